}})(); globalThis.x = 1; (async function(){{
