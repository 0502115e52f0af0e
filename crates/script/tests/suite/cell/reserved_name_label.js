__cove_a: for (;;) break __cove_a
