"""The only code that talks to AWS or to a provider. Everything else takes these as ports."""
