// Chart.js without a browser:
//   npm install chart.js
//   cove run examples/charts/chartjs.js --module chart.js=node_modules/chart.js/dist/chart.umd.js
const { default: Chart } = await import('chart.js')
const canvas = getCanvas(900, 500)
const context = canvas.getContext('2d')
context.fillStyle = 'white'
context.fillRect(0, 0, 900, 500)
const months = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun']
new Chart(context, {
  type: 'bar',
  data: {
    labels: months,
    datasets: [
      { label: 'Runs (thousands)', data: [12, 19, 31, 46, 58, 83], backgroundColor: '#1fa2a0' },
      { label: 'Failures', data: [3, 4, 4, 3, 2, 1], type: 'line', order: -1, borderColor: '#e76f51', borderWidth: 3, tension: 0.3 },
    ],
  },
  options: { animation: false, responsive: false, devicePixelRatio: 1, plugins: { title: { display: true, text: 'Runs in the cove', font: { size: 22 } } } },
})
return 'drawn'
