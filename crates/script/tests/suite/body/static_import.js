import x from "lodash"
