import.source("lodash")
