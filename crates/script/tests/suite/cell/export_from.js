export * from "lodash"
