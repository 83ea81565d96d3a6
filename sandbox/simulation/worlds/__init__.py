"""Random small worlds in a random storm: what is in one, its run, its judges, its shortest form."""
