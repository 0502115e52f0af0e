//! The `BASE` table: where scripts other than Latin put their baselines.

fn u16_at(data: &[u8], at: usize) -> Option<usize> {
    Some(usize::from(u16::from_be_bytes([*data.get(at)?, *data.get(at + 1)?])))
}

/// Height of a horizontal baseline above the alphabetic one, in font units, for Latin text or any.
pub(super) fn find(base: &[u8], wanted: &[u8; 4]) -> Option<i16> {
    let axis = u16_at(base, 4).filter(|at| *at != 0)?;
    let tags = axis + u16_at(base, axis).filter(|at| *at != 0)?;
    let scripts = axis + u16_at(base, axis + 2)?;
    let index = (0..u16_at(base, tags)?).find(|i| base.get(tags + 2 + i * 4..tags + 6 + i * 4) == Some(wanted))?;
    let script = |tag: &[u8; 4]| {
        (0..u16_at(base, scripts)?).find_map(|i| {
            let record = scripts + 2 + i * 6;
            (base.get(record..record + 4)? == tag).then(|| Some(scripts + u16_at(base, record + 4)?))?
        })
    };
    let script = script(b"latn").or_else(|| script(b"DFLT"))?;
    let values = script + u16_at(base, script).filter(|at| *at != 0)?;
    if index >= u16_at(base, values + 2)? {
        return None;
    }
    let coord = values + u16_at(base, values + 4 + index * 2)?;
    u16_at(base, coord + 2).map(|v| v as u16 as i16)
}
