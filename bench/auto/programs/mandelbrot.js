// How many points of a 900 by 600 plane stay.
let inside = 0;
for (let py = 0; py < 600; py++) {
  for (let px = 0; px < 900; px++) {
    const x0 = px / 300 - 2, y0 = py / 300 - 1;
    let x = 0, y = 0, n = 0;
    while (x * x + y * y <= 4 && n < 250) { [x, y] = [x * x - y * y + x0, 2 * x * y + y0]; n++; }
    if (n === 250) inside++;
  }
}
return inside;
