later()
function later() { return 1 }
