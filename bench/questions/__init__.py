"""Questions whose answers follow from document headers: derived by script, asked, and scored."""
