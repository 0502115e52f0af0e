// 1024 1024: getImageData and putImageData, five times
ctx.fillStyle = 'rgba(200, 100, 50, 0.5)'; ctx.fillRect(0, 0, 1024, 1024)
for (let i = 0; i < 5; i++) {
  const data = ctx.getImageData(0, 0, 1024, 1024)
  data.data[i * 4] = 255
  ctx.putImageData(data, 0, 0)
}
