__cove_n = 1e9
