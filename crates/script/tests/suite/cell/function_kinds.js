async function a() {}
function* b() {}
async function* c() {}
function unused() {}
