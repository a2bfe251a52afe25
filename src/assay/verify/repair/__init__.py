"""Repair: claims that fail are re-cited, narrowed, searched for again, or removed, and checked again."""
