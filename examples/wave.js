// A picture without a browser: cove run examples/wave.js
const canvas = getCanvas(800, 420)
const ctx = canvas.getContext('2d')

const sky = ctx.createLinearGradient(0, 0, 0, 420)
sky.addColorStop(0, '#0b3d5c')
sky.addColorStop(1, '#1fa2a0')
ctx.fillStyle = sky
ctx.fillRect(0, 0, 800, 420)

ctx.fillStyle = '#ffd166'
ctx.shadowColor = '#ffd166'
ctx.shadowBlur = 40
ctx.beginPath()
ctx.arc(640, 110, 46, 0, Math.PI * 2)
ctx.fill()
ctx.shadowBlur = 0

for (let row = 0; row < 6; row++) {
  ctx.beginPath()
  ctx.moveTo(0, 420)
  for (let x = 0; x <= 800; x += 4) ctx.lineTo(x, 250 + row * 26 + Math.sin(x / (60 + row * 9) + row) * (16 - row))
  ctx.lineTo(800, 420)
  ctx.closePath()
  ctx.fillStyle = `rgba(9, 48, 72, ${0.22 + row * 0.1})`
  ctx.fill()
}

ctx.fillStyle = 'white'
ctx.font = 'bold 54px Arial'
ctx.fillText('Cove', 48, 110)
ctx.font = '20px Arial'
ctx.fillText('drawn in a process that cannot open a file 🌊', 50, 148)

return { width: canvas.width, height: canvas.height, textWidth: ctx.measureText('Cove').width }
