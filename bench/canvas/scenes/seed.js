// 800 600: the drawings of the contract at once, with CJK and an emoji
const sky = ctx.createLinearGradient(0, 0, 0, 600)
sky.addColorStop(0, '#1e3c72'); sky.addColorStop(1, '#e0eafc')
ctx.fillStyle = sky; ctx.fillRect(0, 0, 800, 600)
ctx.fillStyle = 'red'; ctx.fillRect(50, 50, 150, 100)
ctx.fillStyle = 'rgba(0, 0, 255, 0.6)'; ctx.beginPath(); ctx.arc(300, 150, 80, 0, Math.PI * 2); ctx.fill()
ctx.strokeStyle = '#00ff00'; ctx.lineWidth = 5
ctx.beginPath(); ctx.moveTo(50, 300); ctx.bezierCurveTo(200, 200, 400, 500, 750, 300); ctx.stroke()
ctx.fillStyle = 'black'; ctx.font = '32px Arial'; ctx.fillText('Complex Drawing 日本語 😀', 80, 450)
ctx.fillStyle = '#ffcc00'; ctx.beginPath(); ctx.roundRect(500, 60, 220, 140, 24); ctx.fill()
ctx.setLineDash([12, 6]); ctx.lineWidth = 3; ctx.strokeStyle = '#333'; ctx.stroke()
