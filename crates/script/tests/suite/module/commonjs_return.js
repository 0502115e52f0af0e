module.exports = 5
return
