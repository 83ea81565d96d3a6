"""The workflow as operators see it: drawn from its definition, with what is in each state now."""
