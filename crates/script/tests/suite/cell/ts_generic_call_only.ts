identity<string>(x)
