"""The parts of `bench/load.py`: each puts one kind of load on a served sandbox and returns its figures and faults."""
