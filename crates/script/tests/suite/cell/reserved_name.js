let __cove_n = 1
