"""From expressions of the event algebra to programs."""

DOORS = ("compile", "execute")
