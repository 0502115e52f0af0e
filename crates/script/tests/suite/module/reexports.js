export * from "lodash"
export * as pkg from "@scope/pkg"
export { map, filter as keep } from "lodash"
