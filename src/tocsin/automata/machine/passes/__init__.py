"""What can be done to a machine, one thing a file; all but `compose` and `decompose` keep its behaviour."""
