"""The migrations, one file each, named by number."""
