"""For tests of state machines: the pytest fixtures `sandbox` and `state_machine`. docs/testing.md teaches them."""
