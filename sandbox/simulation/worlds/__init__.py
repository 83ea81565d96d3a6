"""Random small worlds in a random storm: what is in one (`plans`, `drawing`), its run, its judges, its shortest form."""
