globalThis.__cove_stop()
