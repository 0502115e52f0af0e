// Apache ECharts without a browser:
//   npm install echarts
//   cove run examples/charts/echarts.js --module echarts=node_modules/echarts/dist/echarts.min.js
const echarts = await import('echarts')
const canvas = getCanvas(900, 500)
const chart = echarts.init(canvas, null, { width: 900, height: 500, devicePixelRatio: 1 })
const days = ['Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat', 'Sun']
chart.setOption({
  animation: false,
  backgroundColor: 'white',
  textStyle: { fontFamily: 'Arial' },
  title: { text: 'Boats in the cove', subtext: 'arrivals and departures in one week', left: 'center' },
  legend: { bottom: 8 },
  grid: { left: 60, right: 330, top: 80, bottom: 60 },
  xAxis: { type: 'category', data: days },
  yAxis: { type: 'value', name: 'boats' },
  series: [
    { name: 'arrivals', type: 'bar', stack: 'all', data: [12, 20, 15, 8, 7, 31, 28], itemStyle: { color: '#1fa2a0' } },
    { name: 'departures', type: 'bar', stack: 'all', data: [9, 14, 18, 12, 10, 16, 34], itemStyle: { color: '#e9c46a' } },
    { name: 'at anchor', type: 'line', smooth: true, data: [30, 36, 33, 29, 26, 41, 35], itemStyle: { color: '#0b3d5c' }, areaStyle: { opacity: 0.15 } },
    {
      name: 'kind', type: 'pie', radius: ['20%', '34%'], center: ['83%', '48%'],
      label: { formatter: '{b}\n{d} %' }, labelLine: { length: 8, length2: 8 },
      data: [{ name: 'sail', value: 64 }, { name: 'motor', value: 27 }, { name: 'oars', value: 9 }],
    },
  ],
})
// ECharts draws a moment later by itself; now is better.
chart.getZr().flush()
return days.length
