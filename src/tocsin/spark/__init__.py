"""Tocsin on Apache Spark: sessions, batch, streams, sources and sinks."""
