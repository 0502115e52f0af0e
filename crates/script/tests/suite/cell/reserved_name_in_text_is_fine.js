"__cove_n"; /* __cove_n */ `__cove_n`; o["__cove_n"]; /__cove_n/
