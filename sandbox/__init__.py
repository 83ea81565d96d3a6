"""The sandbox: the same template, state machines and handlers, on one machine, without AWS."""
