import fs from "fs"
