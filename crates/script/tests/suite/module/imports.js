import lodash, { map as m, "odd name" as odd } from "lodash"
import * as pkg from "@scope/pkg"
import "lodash/fp"
export { m }
export const n = m([1], x => x)
