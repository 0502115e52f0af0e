"""The client that waits: `transport` and `calls` are its own, the rest is written from `_async`."""
