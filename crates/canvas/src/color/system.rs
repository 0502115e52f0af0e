//! The system colours of CSS, with the values a light desktop theme gives them.

/// The value of a (lower-cased) system colour name.
pub(crate) fn system_color(name: &str) -> Option<[u8; 3]> {
    Some(match name {
        "canvas" | "window" | "field" | "background" | "menu" | "infobackground" => [255, 255, 255],
        "canvastext" | "windowtext" | "fieldtext" | "buttontext" | "marktext" | "menutext" | "infotext"
        | "captiontext" => [0, 0, 0],
        "linktext" => [0, 0, 238],
        "visitedtext" => [85, 26, 139],
        "activetext" => [255, 0, 0],
        "buttonface" | "threedface" | "threedhighlight" | "threedlightshadow" => [240, 240, 240],
        "buttonborder" | "activeborder" | "inactiveborder" | "windowframe" | "threeddarkshadow" | "threedshadow"
        | "buttonshadow" => [118, 118, 118],
        "buttonhighlight" => [221, 221, 221],
        "highlight" | "selecteditem" => [0, 120, 215],
        "highlighttext" | "selecteditemtext" | "accentcolortext" => [255, 255, 255],
        "accentcolor" => [0, 117, 255],
        "mark" => [255, 255, 0],
        "graytext" | "inactivecaptiontext" => [128, 128, 128],
        "activecaption" | "appworkspace" | "inactivecaption" | "scrollbar" => [204, 204, 204],
        _ => return None,
    })
}
