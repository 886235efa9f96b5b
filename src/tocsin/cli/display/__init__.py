"""The display of a running command on a terminal."""
