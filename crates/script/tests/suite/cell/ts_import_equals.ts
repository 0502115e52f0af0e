import fs = require("fs")
