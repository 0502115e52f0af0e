// 800 600: shadows, gradients, a filter and a blend mode
ctx.fillStyle = '#fafafa'; ctx.fillRect(0, 0, 800, 600)
ctx.shadowColor = 'rgba(0, 0, 0, 0.5)'; ctx.shadowBlur = 12; ctx.shadowOffsetX = 6; ctx.shadowOffsetY = 6
for (let i = 0; i < 12; i++) {
  const x = (i % 4) * 190 + 30, y = Math.floor(i / 4) * 190 + 30
  const glow = ctx.createRadialGradient(x + 60, y + 50, 5, x + 75, y + 75, 90)
  glow.addColorStop(0, 'white'); glow.addColorStop(1, `hsl(${i * 30}, 80%, 50%)`)
  ctx.fillStyle = glow; ctx.beginPath(); ctx.arc(x + 75, y + 75, 70, 0, Math.PI * 2); ctx.fill()
}
ctx.shadowColor = 'transparent'
ctx.filter = 'blur(3px) saturate(150%)'; ctx.globalCompositeOperation = 'multiply'
ctx.fillStyle = 'rgba(80, 120, 255, 0.7)'; ctx.fillRect(100, 250, 600, 100)
ctx.filter = 'none'; ctx.globalCompositeOperation = 'source-over'
ctx.fillStyle = '#222'; ctx.font = 'italic bold 48px Georgia, serif'; ctx.textAlign = 'center'
ctx.fillText('Shadows & filters', 400, 320)
