exports.a = 1
module.exports.b = function () { while (1) break }
