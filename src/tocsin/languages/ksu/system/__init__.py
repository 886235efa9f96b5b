"""Systems of components: the files that describe them, put together (paper 001, section 6)."""

from tocsin.languages.ksu.system.read import is_system, read_system

__all__ = ["is_system", "read_system"]
