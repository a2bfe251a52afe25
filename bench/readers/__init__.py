"""Small collections as people have them, and what they ask of them."""
