"""Values that passages state in prose, titles, items and rows, as the fields of a schema ask for them."""
