"""Repair: what the checks object to is cited anew, narrowed, looked for again, or taken out, and checked again."""
