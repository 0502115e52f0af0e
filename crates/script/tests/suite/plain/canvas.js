const canvas = getCanvas(200, 100)
const ctx = canvas.getContext("2d")
for (let i = 0; i < 10; i++) ctx.fillRect(i * 20, 0, 10, 100)
return canvas
