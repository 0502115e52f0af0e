//! How a camera was held, from the Exif block of a picture.

/// The tag that says it.
const ORIENTATION: u16 = 0x0112;

/// How the stored picture has to be turned to stand upright.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) enum Orientation {
    #[default]
    Upright,
    FlipHorizontal,
    Rotate180,
    FlipVertical,
    /// Mirrored along the diagonal from the upper left.
    Transpose,
    Rotate90,
    /// Mirrored along the diagonal from the upper right.
    Transverse,
    Rotate270,
}

impl Orientation {
    /// From a block that begins with its byte order; upright where nothing is said.
    pub(super) fn read(block: Option<&[u8]>) -> Self {
        match block.and_then(tag) {
            Some(2) => Self::FlipHorizontal,
            Some(3) => Self::Rotate180,
            Some(4) => Self::FlipVertical,
            Some(5) => Self::Transpose,
            Some(6) => Self::Rotate90,
            Some(7) => Self::Transverse,
            Some(8) => Self::Rotate270,
            _ => Self::Upright,
        }
    }

    /// The size of the upright picture.
    pub(super) fn size(self, width: u32, height: u32) -> (u32, u32) {
        match self {
            Self::Transpose | Self::Rotate90 | Self::Transverse | Self::Rotate270 => (height, width),
            _ => (width, height),
        }
    }

    /// Which pixel of the stored picture is at a place of the upright one.
    pub(super) fn source(self, x: usize, y: usize, width: u32, height: u32) -> usize {
        let (width, height) = (width as usize, height as usize);
        let (right, bottom) = (width.saturating_sub(1), height.saturating_sub(1));
        let (column, row) = match self {
            Self::Upright => (x, y),
            Self::FlipHorizontal => (right - x, y),
            Self::Rotate180 => (right - x, bottom - y),
            Self::FlipVertical => (x, bottom - y),
            Self::Transpose => (y, x),
            Self::Rotate90 => (y, bottom - x),
            Self::Transverse => (right - y, bottom - x),
            Self::Rotate270 => (right - y, x),
        };
        row * width + column
    }
}

/// The value of the tag in the first directory.
fn tag(block: &[u8]) -> Option<u16> {
    let is_little = match block.get(..4)? {
        [b'I', b'I', 42, 0] => true,
        [b'M', b'M', 0, 42] => false,
        _ => return None,
    };
    let short = |at: usize| {
        let bytes: [u8; 2] = block.get(at..at.checked_add(2)?)?.try_into().ok()?;
        Some(if is_little { u16::from_le_bytes(bytes) } else { u16::from_be_bytes(bytes) })
    };
    let long = |at: usize| {
        let bytes: [u8; 4] = block.get(at..at.checked_add(4)?)?.try_into().ok()?;
        Some(if is_little { u32::from_le_bytes(bytes) } else { u32::from_be_bytes(bytes) })
    };
    let directory = usize::try_from(long(4)?).ok()?;
    let entries = usize::from(short(directory)?);
    (0..entries).find_map(|entry| {
        // Tag, type, count, value: a short value stands at the beginning of its four bytes.
        let at = directory.checked_add(2 + entry * 12)?;
        (short(at)? == ORIENTATION).then(|| short(at.checked_add(8)?)).flatten()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn block(is_little: bool, value: u16) -> Vec<u8> {
        let mut out = if is_little { b"II\x2a\x00".to_vec() } else { b"MM\x00\x2a".to_vec() };
        let short = |value: u16| if is_little { value.to_le_bytes() } else { value.to_be_bytes() };
        let long = |value: u32| if is_little { value.to_le_bytes() } else { value.to_be_bytes() };
        out.extend(long(8));
        out.extend(short(2));
        for (tag, value) in [(0x0100, 7), (ORIENTATION, value)] {
            out.extend(short(tag));
            out.extend(short(3));
            out.extend(long(1));
            out.extend(short(value));
            out.extend([0, 0]);
        }
        out
    }

    #[test]
    fn both_byte_orders_are_read_and_nonsense_is_upright() {
        for is_little in [true, false] {
            assert_eq!(Orientation::read(Some(&block(is_little, 6))), Orientation::Rotate90);
            assert_eq!(Orientation::read(Some(&block(is_little, 9))), Orientation::Upright);
            let whole = block(is_little, 3);
            for cut in 0..whole.len() {
                let _ = Orientation::read(Some(&whole[..cut]));
            }
        }
        for nonsense in [&b""[..], b"II\x2a\x00\xff\xff\xff\xff", b"MM\x00\x2a\xff\xff\xff\xff", b"Exif"] {
            assert_eq!(Orientation::read(Some(nonsense)), Orientation::Upright);
        }
        assert_eq!(Orientation::read(None), Orientation::Upright);
    }

    /// `ab` over `cd` over `ef`, as each orientation shows it.
    #[test]
    fn pictures_are_turned_upright() {
        let stored = ['a', 'b', 'c', 'd', 'e', 'f'];
        for (value, shown) in [
            (1, "ab/cd/ef"),
            (2, "ba/dc/fe"),
            (3, "fe/dc/ba"),
            (4, "ef/cd/ab"),
            (5, "ace/bdf"),
            (6, "eca/fdb"),
            (7, "fdb/eca"),
            (8, "bdf/ace"),
        ] {
            let orientation = Orientation::read(Some(&block(true, value)));
            let (width, height) = orientation.size(2, 3);
            let rows: Vec<String> = (0..height as usize)
                .map(|y| (0..width as usize).map(|x| stored[orientation.source(x, y, 2, 3)]).collect())
                .collect();
            assert_eq!(rows.join("/"), shown, "{value}");
        }
    }
}
