enum Color { Red, Green = 5, Blue, Text = "t", Sum = Red | Blue, Len = "abc".length, Next, "a-b" = -1, After, ['c'] = 1 }
Color.Blue
