// 1000 1000: 2,000 texts in four fonts
ctx.fillStyle = 'white'; ctx.fillRect(0, 0, 1000, 1000); ctx.fillStyle = 'black'
const fonts = ['12px Arial', '16px Arial', 'bold 14px Arial', '13px monospace']
for (let i = 0; i < 2000; i++) {
  ctx.font = fonts[i % 4]
  ctx.fillText(`Label ${i} quick brown fox`, dice() * 850, 12 + dice() * 980)
}
