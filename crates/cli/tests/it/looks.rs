//! Pictures look the same whichever engine drew them: text, charts and the drawings of the canvas contract.

use std::path::{Path, PathBuf};

use crate::cove_in;

/// What a run drew: width, height, and four bytes per pixel.
struct Picture {
    width: usize,
    height: usize,
    rgba: Vec<u8>,
}

impl Picture {
    /// Draws with one engine.
    fn draw(engine: &str, file: &Path, modules: &[String]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let mut args = vec!["run", file.to_str().unwrap(), "--engine", engine, "--no-fallback", "--json"];
        modules.iter().for_each(|module| args.extend(["--module", module]));
        let done = cove_in(folder.path(), &args, "");
        let object: serde_json::Value = serde_json::from_str(&done.out).unwrap_or_else(|_| panic!("{done:?}"));
        let name = object["images"][0].as_str().unwrap_or_else(|| panic!("{engine}: {object}"));
        let bytes = std::fs::read(folder.path().join("artifacts").join(name)).unwrap();
        let mut decoder = png::Decoder::new(std::io::Cursor::new(bytes));
        decoder.set_transformations(png::Transformations::normalize_to_color8() | png::Transformations::ALPHA);
        let mut reader = decoder.read_info().unwrap();
        let mut rgba = vec![0; reader.output_buffer_size().unwrap()];
        let frame = reader.next_frame(&mut rgba).unwrap();
        assert_eq!(frame.color_type, png::ColorType::Rgba);
        Self { width: frame.width as usize, height: frame.height as usize, rgba }
    }

    fn at(&self, x: usize, y: usize) -> [u8; 4] {
        self.rgba[(y * self.width + x) * 4..][..4].try_into().unwrap()
    }

    /// How many pixels of a rectangle fulfil a condition.
    fn count(&self, [left, top, right, bottom]: [usize; 4], is: impl Fn([u8; 4]) -> bool) -> usize {
        (top..bottom).flat_map(|y| (left..right).map(move |x| (x, y))).filter(|(x, y)| is(self.at(*x, *y))).count()
    }

    /// The share of pixels of which a channel differs by more than 64, in percent.
    fn differs(&self, other: &Self) -> f64 {
        assert_eq!((self.width, self.height), (other.width, other.height));
        let far = |(one, two): &(&[u8], &[u8])| one.iter().zip(*two).any(|(a, b)| a.abs_diff(*b) > 64);
        let far = self.rgba.chunks_exact(4).zip(other.rgba.chunks_exact(4)).filter(far).count();
        far as f64 * 100.0 / (self.width * self.height) as f64
    }
}

/// Draws with both engines, looks at each, and compares them.
#[allow(clippy::print_stdout, reason = "the figures of SPECIFICATION.md")]
fn check(name: &str, file: &Path, modules: &[String], look: impl Fn(&Picture)) {
    let embedded = Picture::draw("embedded", file, modules);
    look(&embedded);
    let browser = Picture::draw("browser", file, modules);
    look(&browser);
    let differs = embedded.differs(&browser);
    println!("{name}: {differs:.3} % of the pixels differ by more than 64");
    assert!(differs < 2.0, "{name}: {differs} %");
}

fn drawing(name: &str, code: &str, look: impl Fn(&Picture)) {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("draw.js");
    std::fs::write(&file, code).unwrap();
    check(name, &file, &[], look);
}

const CLEAR: [u8; 4] = [0; 4];
const RED: [u8; 4] = [255, 0, 0, 255];
const BLUE: [u8; 4] = [0, 0, 255, 255];

#[test]
fn rectangles() {
    let code = "const ctx = getCanvas(200, 200).getContext('2d')
        ctx.fillStyle = 'red'; ctx.fillRect(10, 10, 100, 100); ctx.strokeRect(150.5, 150.5, 20, 20)";
    drawing("rectangles", code, |picture| {
        assert_eq!(picture.count([0, 0, 200, 140], |pixel| pixel == RED), 100 * 100);
        assert_eq!([(9, 9), (10, 10), (109, 109), (110, 110)].map(|(x, y)| picture.at(x, y)), [CLEAR, RED, RED, CLEAR]);
        assert_eq!(picture.at(150, 160), [0, 0, 0, 255]);
    });
}

#[test]
fn circles() {
    let code = "const ctx = getCanvas(200, 200).getContext('2d')
        ctx.fillStyle = 'blue'; ctx.beginPath(); ctx.arc(100, 100, 50, 0, Math.PI * 2); ctx.fill()";
    drawing("circles", code, |picture| {
        let area = picture.count([0, 0, 200, 200], |pixel| pixel[3] > 127);
        assert!((7800..7910).contains(&area), "{area}");
        assert_eq!([(100, 100), (52, 100), (62, 62)].map(|(x, y)| picture.at(x, y)), [BLUE, BLUE, CLEAR]);
    });
}

#[test]
fn texts() {
    let code = "const ctx = getCanvas(300, 100).getContext('2d')
        ctx.font = '20px Arial'; ctx.fillStyle = 'black'; ctx.fillText('Hello Canvas', 50, 50)";
    drawing("texts", code, |picture| {
        let ink = picture.count([48, 30, 200, 58], |pixel| pixel[3] > 0);
        assert!(ink > 400, "{ink} pixels of ink");
        assert_eq!(ink, picture.count([0, 0, 300, 100], |pixel| pixel[3] > 0));
    });
}

#[test]
fn lines() {
    let code = "const ctx = getCanvas(200, 200).getContext('2d')
        ctx.strokeStyle = 'green'; ctx.lineWidth = 2
        ctx.beginPath(); ctx.moveTo(10, 10); ctx.lineTo(190, 190); ctx.stroke()";
    drawing("lines", code, |picture| {
        assert_eq!([20, 100, 180].map(|at| picture.at(at, at)), [[0, 128, 0, 255]; 3]);
        assert_eq!([(100, 110), (195, 195), (5, 5)].map(|(x, y)| picture.at(x, y)), [CLEAR; 3]);
    });
}

#[test]
fn several_things_at_once() {
    let code = "const ctx = getCanvas(400, 300).getContext('2d')
        ctx.fillStyle = 'lightgray'; ctx.fillRect(0, 0, 400, 300)
        ctx.fillStyle = 'red'; ctx.fillRect(50, 50, 100, 100)
        ctx.fillStyle = 'blue'; ctx.beginPath(); ctx.arc(250, 150, 50, 0, Math.PI * 2); ctx.fill()
        ctx.fillStyle = 'black'; ctx.font = '16px Arial'; ctx.fillText('Complex Drawing', 100, 250)";
    drawing("several things at once", code, |picture| {
        assert_eq!([(5, 5), (100, 100), (250, 150)].map(|(x, y)| picture.at(x, y)), [[211, 211, 211, 255], RED, BLUE]);
        let dark = picture.count([100, 235, 230, 255], |pixel| pixel[0] < 100);
        assert!(dark > 150, "{dark} dark pixels of text");
    });
}

#[test]
fn colours_and_styles() {
    let code = "const ctx = getCanvas(200, 200).getContext('2d')
        ctx.fillStyle = 'rgba(255, 0, 0, 0.5)'; ctx.fillRect(50, 50, 100, 100)
        ctx.strokeStyle = '#00FF00'; ctx.lineWidth = 3; ctx.strokeRect(10, 10, 180, 180)";
    drawing("colours and styles", code, |picture| {
        assert_eq!(
            [(100, 100), (10, 100), (30, 100)].map(|(x, y)| picture.at(x, y)),
            [[255, 0, 0, 128], [0, 255, 0, 255], CLEAR]
        );
        assert!(picture.at(8, 100)[3].abs_diff(128) <= 1);
    });
}

#[test]
fn a_white_page() {
    let code =
        "const ctx = getCanvas(100, 100).getContext('2d'); ctx.fillStyle = 'white'; ctx.fillRect(0, 0, 100, 100)";
    drawing("a white page", code, |picture| {
        assert_eq!((picture.width, picture.height), (100, 100));
        assert!(picture.rgba.iter().all(|byte| *byte == 255));
    });
}

/// The chart libraries, each from its own file, draw the same without a browser as in one.
fn chart(name: &str, modules: &[(&str, &str)]) {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap();
    let libraries: PathBuf = root.join("tests/js/node_modules");
    let modules: Vec<String> =
        modules.iter().map(|(module, file)| format!("{module}={}", libraries.join(file).display())).collect();
    check(name, &root.join(format!("examples/charts/{name}.js")), &modules, |picture| {
        let drawn = picture.count([0, 0, picture.width, picture.height], |pixel| pixel != [255; 4]);
        assert!(drawn > 5_000, "{name}: {drawn} pixels are not white");
    });
}

#[test]
fn chart_js() {
    chart("chartjs", &[("chart.js", "chart.js/dist/chart.umd.js")]);
}

#[test]
fn d3() {
    chart("d3", &[("d3", "d3/dist/d3.min.js")]);
}

#[test]
fn echarts() {
    chart("echarts", &[("echarts", "echarts/dist/echarts.min.js")]);
}

#[test]
fn vega_lite() {
    chart("vegalite", &[("vega", "vega/build/vega.min.js"), ("vega-lite", "vega-lite/build/vega-lite.min.js")]);
}
