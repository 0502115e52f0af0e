// Vega-Lite without a browser; it needs Vega, which draws:
//   npm install vega vega-lite
//   cove run examples/charts/vegalite.js --module vega=node_modules/vega/build/vega.min.js \
//     --module vega-lite=node_modules/vega-lite/build/vega-lite.min.js
const vega = await import('vega')
const { compile } = await import('vega-lite')

// Without a page Vega guesses how wide texts are; a canvas knows.
const ruler = new OffscreenCanvas(1, 1).getContext('2d')
vega.textMetrics.width = (item, text) => {
  ruler.font = `${item.fontStyle ?? ''} ${item.fontWeight ?? ''} ${item.fontSize ?? 11}px ${item.font ?? 'sans-serif'}`
  return ruler.measureText(text).width
}

const values = []
for (let i = 0; i < 160; i++) {
  const depth = (i * 37) % 100
  values.push({ depth, warmth: 24 - depth * 0.16 + Math.sin(i * 1.7) * 2.2, water: ['bay', 'reef', 'open sea'][i % 3] })
}
const { spec } = compile({
  width: 760,
  height: 380,
  background: 'white',
  padding: 20,
  title: { text: 'How warm the water is', fontSize: 20 },
  data: { values },
  config: { font: 'Arial' },
  layer: [
    {
      mark: { type: 'circle', size: 70, opacity: 0.75 },
      encoding: {
        x: { field: 'depth', type: 'quantitative', title: 'depth in metres' },
        y: { field: 'warmth', type: 'quantitative', title: 'degrees', scale: { zero: false } },
        color: { field: 'water', type: 'nominal', scale: { range: ['#1fa2a0', '#e76f51', '#0b3d5c'] } },
      },
    },
    {
      transform: [{ loess: 'warmth', on: 'depth' }],
      mark: { type: 'line', color: '#264653', strokeWidth: 3 },
      encoding: { x: { field: 'depth', type: 'quantitative' }, y: { field: 'warmth', type: 'quantitative' } },
    },
  ],
})
const view = new vega.View(vega.parse(spec), { renderer: 'none' })
await view.runAsync()
const canvas = getCanvas(920, 490)
await view.toCanvas(1, { externalContext: canvas.getContext('2d') })
return values.length
