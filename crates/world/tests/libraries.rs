//! Popular libraries load in the hardened world and do their work there.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, missing_docs, clippy::result_large_err)]

mod host;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use cove_core::{Clock, ImportPolicy, Limits, Random};
use host::{Guest, setup};
use serde_json::{Value, json};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/js/node_modules")
}

fn text(path: &str) -> String {
    let path = root().join(path);
    std::fs::read_to_string(&path).unwrap_or_else(|_| panic!("{} is missing: run scripts/setup", path.display()))
}

fn check(modules: BTreeMap<String, String>, code: &str, expected: &Value) {
    let mut setup = setup();
    setup.imports = ImportPolicy { authorized: vec!["*".into()], modules };
    setup.limits = Limits::EXECUTOR;
    (setup.clock, setup.random) = (Clock::Fixed(1_700_000_000_000), Random::Seeded(1));
    let mut guest = Guest::with(&setup);
    let value = guest.cell(code).unwrap_or_else(|fault| panic!("{fault:#?}\n{}", guest.desk.text()));
    assert_eq!(&value, expected);
}

fn one(name: &str, path: &str, code: &str, expected: &Value) {
    check(BTreeMap::from([(name.to_owned(), text(path))]), code, expected);
}

/// Every file of a package that is spread over folders, under the name that its neighbours import it by.
fn folders(package: &str, folders: &[&str]) -> BTreeMap<String, String> {
    let mut modules = BTreeMap::new();
    for folder in folders.iter().map(|folder| format!("{package}{folder}")) {
        let Ok(listing) = std::fs::read_dir(root().join(&folder)) else { continue };
        for entry in listing.map(|entry| entry.unwrap().file_name().into_string().unwrap()) {
            if entry.ends_with(".js") && !entry.starts_with("cdn") {
                let name = format!("{folder}/{entry}");
                modules.insert(name.clone(), text(&name));
            }
        }
    }
    assert!(!modules.is_empty(), "{package} is missing: run scripts/setup");
    modules
}

#[test]
fn lodash() {
    one(
        "lodash",
        "lodash/lodash.min.js",
        "const _ = (await import('lodash')).default;
         const people = [{ n: 'b', a: 2 }, { n: 'a', a: 1 }, { n: 'c', a: 2 }];
         const throttled = _.memoize((x) => x * 2);
         [_.chunk([1, 2, 3], 2), _.groupBy(people, 'a'), _.sortBy(people, 'n').map((p) => p.n), _.get({ a: [{ b: 1 }] }, 'a[0].b'),
          _.merge({ a: { x: 1 } }, { a: { y: 2 } }), _.camelCase('hello big world'), _.cloneDeep({ d: new Date(0), m: new Map([[1, 2]]) }).m.get(1),
          throttled(4), _.template('hi <%= d.name %>', { variable: 'd' })({ name: 'you' }), _.range(3), _(people).map('a').uniq().sum(), _.isEqual([1, { a: 2 }], [1, { a: 2 }])]",
        &json!([[[1, 2], [3]], {"1": [{"n": "a", "a": 1}], "2": [{"n": "b", "a": 2}, {"n": "c", "a": 2}]}, ["a", "b", "c"], 1,
            {"a": {"x": 1, "y": 2}}, "helloBigWorld", 2, 8, "hi you", [0, 1, 2], 3, true]),
    );
}

#[test]
fn date_fns() {
    check(
        folders("date-fns", &["", "/_lib", "/_lib/format", "/locale", "/locale/_lib", "/locale/en-US", "/locale/en-US/_lib", "/parse", "/parse/_lib", "/parse/_lib/parsers"]),
        "const { addDays, format, differenceInDays, parseISO, parse, startOfMonth, isLeapYear } = await import('date-fns/index.js');
         const day = parseISO('2024-02-28T00:00:00Z');
         [addDays(day, 2).toISOString(), format(new Date(2024, 1, 29, 13, 5), 'yyyy-MM-dd HH:mm, EEEE'), differenceInDays(new Date(86400000 * 10), new Date(0)), isLeapYear(day), startOfMonth(new Date(2024, 4, 20)).getDate(), parse('02/11/2014', 'MM/dd/yyyy', new Date()).getFullYear()]",
        &json!(["2024-03-01T00:00:00.000Z", "2024-02-29 13:05, Thursday", 10, true, 1, 2014]),
    );
}

#[test]
fn d3() {
    one(
        "d3",
        "d3/dist/d3.min.js",
        "const d3 = await import('d3');
         const x = d3.scaleLinear().domain([0, 10]).range([0, 100]);
         const tree = d3.hierarchy({ v: 1, children: [{ v: 2 }, { v: 3 }] }).sum((d) => d.v);
         [x(5), d3.max([1, 9, 3]), d3.line()([[0, 0], [1, 2]]), d3.scaleOrdinal(d3.schemeCategory10)('a'), d3.format(',.2f')(12345.678),
          d3.timeFormat('%Y')(new Date(0)), tree.value, d3.csvParse('a,b\\n1,2')[0].b, d3.rollups([1, 2, 3, 4], (v) => v.length, (d) => d % 2), d3.interpolateRgb('red', 'blue')(0.5), d3.geoPath()({ type: 'Point', coordinates: [0, 0] }).slice(0, 1)]",
        &json!([50, 9, "M0,0L1,2", "#1f77b4", "12,345.68", "1970", 6, "2", [[1, 2], [0, 2]], "rgb(128, 0, 128)", "M"]),
    );
}

#[test]
fn chart_js() {
    one(
        "chart.js",
        "chart.js/dist/chart.umd.js",
        "const Chart = (await import('chart.js')).default;
         const calls = [];
         const context = new Proxy({}, { get: (t, k) => k in t ? t[k] : k === 'canvas' ? canvas : k === 'measureText' ? (s) => ({ width: s.length * 6 }) : (...a) => { calls.push(k); return { addColorStop() {} } }, set: (t, k, v) => { t[k] = v; return true } });
         const canvas = { width: 200, height: 100, style: {}, getContext: () => context, getAttribute: () => null, setAttribute() {}, removeAttribute() {}, addEventListener() {}, removeEventListener() {} };
         const chart = new Chart(canvas, { type: 'bar', data: { labels: ['a', 'b'], datasets: [{ label: 'n', data: [1, 2] }] }, options: { animation: false, responsive: false, events: [] } });
         chart.draw();
         [chart.data.datasets[0].data, chart.scales.y.max, Chart.version.split('.')[0], calls.includes('fillText')]",
        &json!([[1, 2], 2, "4", true]),
    );
}

#[test]
fn zod() {
    one(
        "zod",
        "zod/lib/index.mjs",
        "const { z } = await import('zod');
         const User = z.object({ name: z.string().min(1), age: z.number().int().positive(), tags: z.array(z.enum(['a', 'b'])).default([]), mail: z.string().email().optional() });
         const good = User.parse({ name: 'Ann', age: 3 });
         const bad = User.safeParse({ name: '', age: -1, tags: ['c'] });
         [good, bad.success, bad.error.issues.map((i) => i.path.join('.')), z.union([z.string(), z.number()]).parse(5), z.coerce.number().parse('7'), (() => { try { z.string().parse(1) } catch (e) { return e instanceof z.ZodError } })()]",
        &json!([{"name": "Ann", "age": 3, "tags": []}, false, ["name", "age", "tags.0"], 5, 7, true]),
    );
}

/// Its files import one another in circles.
#[test]
fn zod_4() {
    let mut modules = folders("zod4", &["", "/v4/classic", "/v4/core", "/v4/locales"]);
    modules.retain(|name, _| !name.contains(".cjs"));
    check(
        modules,
        "const { z } = await import('zod4/index.js');
         const Tree = z.object({ name: z.string(), get children() { return z.array(Tree) } });
         const bad = z.object({ age: z.int().positive(), mail: z.email() }).safeParse({ age: -1, mail: 'x' });
         [Tree.parse({ name: 'a', children: [{ name: 'b', children: [] }] }).children[0].name, bad.success, bad.error.issues.map((i) => i.path.join('.')), bad.error.issues[0].message]",
        &json!(["b", false, ["age", "mail"], "Too small: expected number to be >0"]),
    );
}

#[test]
fn echarts() {
    one(
        "echarts",
        "echarts/dist/echarts.min.js",
        "const echarts = await import('echarts');
         const chart = echarts.init(null, null, { renderer: 'svg', ssr: true, width: 300, height: 200 });
         chart.setOption({ animation: false, xAxis: { data: ['a', 'b'] }, yAxis: {}, series: [{ type: 'bar', data: [3, 5] }] });
         const svg = chart.renderToSVGString();
         [svg.startsWith('<svg'), svg.includes('>b</text>'), echarts.version.split('.')[0]]",
        &json!([true, true, "6"]),
    );
}

/// A module that requires another one gets it; without it the error says what is there.
#[test]
fn vega_lite_requires_vega() {
    let lite = ("vega-lite".to_owned(), text("vega-lite/build/vega-lite.min.js"));
    let code = "const { compile } = await import('vega-lite');
         const { spec } = compile({ data: { values: [{ a: 'x', b: 1 }, { a: 'y', b: 2 }] }, mark: 'bar', encoding: { x: { field: 'a' }, y: { field: 'b', type: 'quantitative' } } });
         const vega = await import('vega');
         const view = new vega.View(vega.parse(spec), { renderer: 'none' });
         await view.runAsync();
         [spec.marks[0].type, view.data('data_0').length, (await view.toSVG()).includes('<path')]";
    check(
        BTreeMap::from([lite.clone(), ("vega".to_owned(), text("vega/build/vega.min.js"))]),
        code,
        &json!(["rect", 2, true]),
    );
    let mut setup = setup();
    setup.imports = ImportPolicy { authorized: vec!["*".into()], modules: BTreeMap::from([lite]) };
    let fault = Guest::with(&setup).cell(code).unwrap_err();
    assert!(fault.message.contains("Cannot find module vega:"), "{}", fault.message);
    assert!(fault.message.ends_with("Modules with a text: vega-lite"), "{}", fault.message);
    assert_eq!(fault.details["module"], "vega");
}

#[test]
fn immer() {
    one(
        "immer",
        "immer/dist/cjs/immer.cjs.production.js",
        "const { produce, enableMapSet, enablePatches, produceWithPatches } = await import('immer');
         enableMapSet(); enablePatches();
         const base = { list: [{ done: false }], m: new Map([['k', 1]]), name: 'own' };
         const next = produce(base, (d) => { d.list[0].done = true; d.list.push({ done: false }); d.m.set('k', 2); d.name = 'changed' });
         const [, patches] = produceWithPatches({ a: 1 }, (d) => { d.a = 2 });
         let frozen; try { next.list.push(1) } catch (e) { frozen = e.name }
         [base.list.length, next.list.map((x) => x.done), base.m.get('k'), next.m.get('k'), next.name, patches, frozen]",
        &json!([1, [true, false], 1, 2, "changed", [{"op": "replace", "path": ["a"], "value": 2}], "TypeError"]),
    );
}

#[test]
fn papaparse() {
    one(
        "papaparse",
        "papaparse/papaparse.min.js",
        "const Papa = (await import('papaparse')).default;
         const parsed = Papa.parse('name,n\\n\"Ann, B.\",1\\nBob,2\\n', { header: true, dynamicTyping: true, skipEmptyLines: true });
         [parsed.data, parsed.errors.length, Papa.unparse([{ a: 1, b: 'x,y' }])]",
        &json!([[{"name": "Ann, B.", "n": 1}, {"name": "Bob", "n": 2}], 0, "a,b\r\n1,\"x,y\""]),
    );
}
