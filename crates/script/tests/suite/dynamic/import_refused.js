import("fs")
