"""The live view: a run as a few lines at the bottom of a terminal, redrawn when they change.

`frame` makes the lines of a `RunView`, `region` keeps them on the terminal, `screen` feeds them with events and time.
"""
