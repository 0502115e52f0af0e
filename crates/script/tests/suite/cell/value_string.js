"hello"; // a string
