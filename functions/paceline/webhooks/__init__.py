"""A customer's webhook: where it may lead, how a request to it is signed, and what became of each notification."""
