\u005f_cove_n = 1e9
