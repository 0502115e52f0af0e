"import('fs')"; // import("fs")
/import("fs")/; `import("fs") ${import("lodash")}`
