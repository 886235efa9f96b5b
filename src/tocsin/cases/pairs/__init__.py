"""The kinds of cases of the event algebra."""
