let a = 1
import { map } from "lodash"
