//! The canvas's own properties: what has no canvas is as it ever was, and any drawing ends in a picture.

use cove_core::RunRequest;
use proptest::prelude::*;

use super::draw::json_value;
use super::one_shot::png_size;
use super::{Suite, ensure, plain};

/// One drawing step; numbers stand where it says `x`, `y`, `w`, `n`.
const STEPS: &[&str] = &[
    "ctx.fillRect(x, y, w, n)",
    "ctx.strokeRect(x, y, w, n)",
    "ctx.clearRect(x, y, w, n)",
    "ctx.beginPath(); ctx.arc(x, y, n, 0, w); ctx.fill()",
    "ctx.beginPath(); ctx.ellipse(x, y, n, w, 1, 0, 4, true); ctx.stroke()",
    "ctx.beginPath(); ctx.moveTo(x, y); ctx.bezierCurveTo(w, n, y, x, n, w); ctx.stroke()",
    "ctx.beginPath(); ctx.roundRect(x, y, w, n, 7); ctx.fill('evenodd')",
    "ctx.fill(new Path2D(`M ${x} ${y} L ${w} ${n} Q 3 4 ${n} ${w} Z`))",
    "ctx.font = `${n % 40 + 1}px Arial`; ctx.fillText('Cove ä 漢 😀', x, y)",
    "ctx.font = 'bold 12px serif'; ctx.strokeText('Cove', x, y, w)",
    "ctx.fillStyle = `hsl(${x}, 80%, 50%)`; ctx.strokeStyle = `rgba(${n}, ${w}, 9, 0.5)`",
    "ctx.fillStyle = (g => { g.addColorStop(0, 'red'); g.addColorStop(1, 'rgba(0, 0, 255, 0)'); return g })(ctx.createLinearGradient(x, y, w, n))",
    "ctx.fillStyle = (g => { g.addColorStop(0.5, 'lime'); return g })(ctx.createRadialGradient(x, y, 2, w, n, 30))",
    "ctx.fillStyle = ctx.createPattern(ctx.canvas, 'repeat')",
    "ctx.globalCompositeOperation = ['source-over', 'multiply', 'xor', 'destination-out', 'copy', 'lighter', 'hue'][n % 7]",
    "ctx.globalAlpha = n % 11 / 10",
    "ctx.shadowColor = 'black'; ctx.shadowBlur = n % 9; ctx.shadowOffsetX = x % 5",
    "ctx.filter = ['none', 'blur(2px)', 'grayscale(1)', 'hue-rotate(90deg)'][n % 4]",
    "ctx.lineWidth = n % 12 + 0.5; ctx.lineJoin = 'round'; ctx.setLineDash([n % 5, 3])",
    "ctx.save(); ctx.translate(x, y); ctx.rotate(n); ctx.scale(0.7, 1.3)",
    "ctx.restore()",
    "ctx.beginPath(); ctx.rect(x, y, w + 20, n + 20); ctx.clip()",
    "ctx.drawImage(ctx.canvas, x, y, w, n)",
    "ctx.putImageData(ctx.getImageData(0, 0, 9, 9), x, y)",
    "ctx.fillRect(NaN, y, w, n); ctx.arc(x, Infinity, 1, 0, 1); ctx.setTransform(1, 0, 0, 1, 0, 0)",
    "ctx.measureText('width').width",
];

impl Suite {
    /// Property 4 of the canvas's design: what does not use a canvas gives the same bare value, store or no store.
    pub fn canvas_04_nothing_changes_without_one(&self) {
        const FORMS: &[&str] = &[
            "return input",
            "return typeof getCanvas === 'function' && input",
            "return { result: input, images: ['x.png'] }",
            "const getCanvas = 1; return [getCanvas, input]",
            "throw new Error(JSON.stringify(input))",
        ];
        self.with_store(|pictures| {
            self.hold("canvas property 4", &(0..FORMS.len(), json_value()), |(form, input)| {
                prop_assume!(input.get("then").is_none());
                let request = || RunRequest { input: Some(input.clone()), ..self.request(FORMS[form]) };
                let without = self.run(request());
                let with = self.block_on(self.runner(Some(pictures.clone())).run(request()));
                let as_ever = plain(&with).is_some() || with.result.is_err();
                let (with, without) = (with.answer(), without.answer());
                ensure(as_ever && with == without, || format!("{with}, but {without} without a store: {}", FORMS[form]))
            });
        });
    }

    /// Property 5 of the canvas's design: any sequence of drawing steps ends in one whole PNG of the right size.
    pub fn canvas_05_any_drawing_is_a_picture(&self) {
        let step = (0..STEPS.len(), [-20i32..120, -20i32..120, 0i32..120, 0i32..120]);
        let steps = proptest::collection::vec(step, 1..16);
        self.with_store(|pictures| {
            self.hold("canvas property 5", &(1u32..140, 1u32..140, steps), |(width, height, steps)| {
                let mut code = format!("const ctx = getCanvas({width}, {height}).getContext('2d');\n");
                for (step, [x, y, w, n]) in steps {
                    let text = STEPS[step];
                    code.push_str(&format!("{{ const x = {x}, y = {y}, w = {w}, n = {n}; {text} }}\n"));
                }
                let (_, png) = self.draw(pictures, code)?;
                ensure(png_size(&png) == Some((width, height)), || format!("the PNG has {:?}", png_size(&png)))?;
                ensure(is_whole(&png), || "the PNG is not whole".to_owned())
            });
        });
    }
}

/// Whether chunk follows chunk, the first being the header and the last the end.
fn is_whole(png: &[u8]) -> bool {
    let mut names = Vec::new();
    let mut rest = png.get(8..).unwrap_or_default();
    while let Some((head, more)) = rest.split_first_chunk::<8>() {
        let [a, b, c, d, name @ ..] = *head;
        names.push(name);
        // The name, what it holds, and four bytes of checksum.
        let Some(next) = more.get(u32::from_be_bytes([a, b, c, d]) as usize + 4..) else { return false };
        rest = next;
    }
    rest.is_empty() && names.first() == Some(b"IHDR") && names.last() == Some(b"IEND") && names.contains(b"IDAT")
}
