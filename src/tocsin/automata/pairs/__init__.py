"""From expressions of the event algebra to programs."""

DOORS = ("compile", "in_process")
