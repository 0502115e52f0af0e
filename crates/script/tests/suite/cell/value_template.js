`a${b}c`
