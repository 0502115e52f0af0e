x // the end
