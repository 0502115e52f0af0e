// 1200 800: a chart with four lines and 2,000 points
ctx.fillStyle = 'white'; ctx.fillRect(0, 0, 1200, 800)
ctx.strokeStyle = '#dddddd'; ctx.lineWidth = 1; ctx.font = '12px Arial'
for (let i = 0; i < 20; i++) {
  const y = 40 + i * 36
  ctx.beginPath(); ctx.moveTo(60, y + 0.5); ctx.lineTo(1180, y + 0.5); ctx.stroke()
  ctx.fillStyle = '#666666'; ctx.textAlign = 'right'; ctx.fillText(String(1000 - i * 50), 52, y + 4)
}
ctx.textAlign = 'center'
for (let i = 0; i < 24; i++) ctx.fillText(`${i}:00`, 84 + i * 47, 756)
const colors = ['#e6194b', '#3cb44b', '#4363d8', '#f58231']
for (let line = 0; line < 4; line++) {
  ctx.strokeStyle = colors[line]; ctx.lineWidth = 2; ctx.beginPath()
  let value = 200 + 120 * line
  for (let i = 0; i < 2000; i++) {
    value += (dice() - 0.5) * 24
    ctx.lineTo(60 + i * 0.56, Math.min(720, Math.max(40, value)))
  }
  ctx.stroke()
}
for (let i = 0; i < 2000; i++) {
  ctx.fillStyle = `hsla(${Math.floor(dice() * 360)}, 70%, 50%, 0.5)`
  ctx.beginPath(); ctx.arc(60 + dice() * 1120, 40 + dice() * 680, 2 + dice() * 4, 0, Math.PI * 2); ctx.fill()
}
