import { readFile } from "fs"
