"""Names under which other programs know Cove."""
