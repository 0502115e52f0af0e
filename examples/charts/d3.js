// D3 on a canvas, without a browser:
//   npm install d3
//   cove run examples/charts/d3.js --module d3=node_modules/d3/dist/d3.min.js
const d3 = await import('d3')
const width = 900, height = 500, margin = { top: 50, right: 30, bottom: 40, left: 50 }
const context = getCanvas(width, height).getContext('2d')
context.fillStyle = 'white'
context.fillRect(0, 0, width, height)

const data = d3.range(0, 10.01, 0.05).map(x => ({ x, y: Math.sin(x) * Math.exp(-x / 6) }))
const x = d3.scaleLinear().domain(d3.extent(data, d => d.x)).range([margin.left, width - margin.right])
const y = d3.scaleLinear().domain([-0.8, 1]).nice().range([height - margin.bottom, margin.top])

context.strokeStyle = '#dde'
context.fillStyle = '#556'
context.font = '13px Arial'
for (const tick of y.ticks(6)) {
  context.beginPath(); context.moveTo(margin.left, y(tick)); context.lineTo(width - margin.right, y(tick)); context.stroke()
  context.textAlign = 'right'; context.textBaseline = 'middle'; context.fillText(y.tickFormat(6)(tick), margin.left - 8, y(tick))
}
for (const tick of x.ticks(10)) {
  context.textAlign = 'center'; context.textBaseline = 'top'; context.fillText(String(tick), x(tick), height - margin.bottom + 8)
}
const area = d3.area().x(d => x(d.x)).y0(y(0)).y1(d => y(d.y)).curve(d3.curveMonotoneX).context(context)
context.beginPath(); area(data); context.fillStyle = 'rgba(31, 162, 160, 0.25)'; context.fill()
const line = d3.line().x(d => x(d.x)).y(d => y(d.y)).curve(d3.curveMonotoneX).context(context)
context.beginPath(); line(data); context.strokeStyle = '#0b3d5c'; context.lineWidth = 3; context.stroke()
context.fillStyle = '#0b3d5c'; context.font = 'bold 22px Arial'; context.textAlign = 'left'; context.fillText('A damped wave', margin.left, 16)
return data.length
