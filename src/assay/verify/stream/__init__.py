"""Claims found and checked while their report still streams."""
