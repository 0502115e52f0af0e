"""The client that awaits. `_sync` is written from this by scripts/write_sync.py, but for `transport` and `calls`."""
