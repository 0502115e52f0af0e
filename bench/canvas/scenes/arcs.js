// 1000 1000: 10,000 discs
const colors = ['#f00', '#0f0', 'rgba(0,0,255,0.5)', '#ff0']
for (let i = 0; i < 10000; i++) {
  ctx.fillStyle = colors[i % 4]
  ctx.beginPath(); ctx.arc(dice() * 1000, dice() * 1000, 2 + dice() * 20, 0, Math.PI * 2); ctx.fill()
}
