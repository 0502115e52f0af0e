import "lodash"
