x = 1
  + __cove_n
