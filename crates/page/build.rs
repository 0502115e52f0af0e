//! Lists the built page: `dist/` holds what `npm run build` in `web/` wrote. No Node is needed here.

use std::fmt::Write as _;
use std::path::Path;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    println!("cargo:rerun-if-changed=dist");
    let dist = Path::new(&std::env::var("CARGO_MANIFEST_DIR")?).join("dist");
    let mut names = Vec::new();
    for entry in std::fs::read_dir(&dist)? {
        let name = entry?.file_name().into_string().map_err(|name| format!("{name:?} is no name"))?;
        names.extend(name.strip_suffix(".gz").map(str::to_owned));
    }
    names.sort();
    let mut list = "&[\n".to_owned();
    for name in names {
        let path = dist.join(format!("{name}.gz"));
        writeln!(list, "PageFile {{ name: {name:?}, gzip: include_bytes!({path:?}) }},")?;
    }
    list.push(']');
    std::fs::write(Path::new(&std::env::var("OUT_DIR")?).join("files.rs"), list)?;
    Ok(())
}
