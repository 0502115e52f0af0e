// 1000 1000: 100,000 rectangles
const colors = ['#f00', '#0f0', 'rgba(0,0,255,0.5)', '#ff0']
for (let i = 0; i < 100000; i++) {
  ctx.fillStyle = colors[i % 4]
  ctx.fillRect(dice() * 990, dice() * 990, 2 + dice() * 20, 2 + dice() * 20)
}
