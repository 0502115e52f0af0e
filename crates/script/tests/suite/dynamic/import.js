import("lodash")
