use super::*;

fn shown(pieces: &[&[u8]], colours: bool) -> String {
    let (mut filter, mut out) = (Filter::new(colours), String::new());
    for piece in pieces {
        filter.pass(piece, &mut out);
    }
    filter.finish(&mut out);
    out
}

/// In one piece, and cut in two at every byte: always the same.
fn check(text: &[u8], expected: &str) {
    assert_eq!(shown(&[text], true), expected, "{:?}", String::from_utf8_lossy(text));
    for at in 0..=text.len() {
        let (head, tail) = text.split_at(at);
        assert_eq!(shown(&[head, tail], true), expected, "{:?} cut at {at}", String::from_utf8_lossy(text));
    }
    let bytes: Vec<&[u8]> = text.chunks(1).collect();
    assert_eq!(shown(&bytes, true), expected, "{:?} byte by byte", String::from_utf8_lossy(text));
}

#[test]
fn letters_lines_and_tabs_pass() {
    for text in [
        "",
        "plain\n",
        "a\tb\n\nc",
        "grüße, 你好, שלום, مرحبا, 👩‍👩‍👧 ❤️ नमस्ते می‌خواهم",
        "␛[2J",
        "\\x1b[2J",
        "\u{A0}e\u{301}",
    ] {
        check(text.as_bytes(), text);
    }
    check(b"one\r\ntwo\r\n", "one\ntwo\n");
}

#[test]
fn colours_pass_and_end_with_their_text() {
    for (text, expected) in [
        ("\x1b[31mred\x1b[0m", "\x1b[31mred\x1b[0m"),
        ("\x1b[1;4;38;5;208mx\x1b[m", "\x1b[1;4;38;5;208mx\x1b[m"),
        ("\x1b[48;2;8;8;8mx\x1b[0m", "\x1b[48;2;8;8;8mx\x1b[0m"),
        ("\x1b[38;5;8mgrey\x1b[39;0m", "\x1b[38;5;8mgrey\x1b[39;0m"),
        // Not taken back: taken back for them.
        ("\x1b[31mred", "\x1b[31mred\x1b[0m"),
        ("\x1b[0;7mx\n", "\x1b[0;7mx\n\x1b[0m"),
    ] {
        check(text.as_bytes(), expected);
    }
    assert_eq!(shown(&[b"\x1b[31mred\x1b[0m \x1b[2J"], false), "red ␛[2J", "without colours");
}

#[test]
fn every_other_sequence_is_shown() {
    for (text, expected) in [
        ("\x1b]0;title\x07", "␛]0;title␇"),
        ("\x1b]52;c;ZXZpbA==\x07", "␛]52;c;ZXZpbA==␇"),
        ("\x1b]8;;http://evil\x1b\\click\x1b]8;;\x1b\\", "␛]8;;http://evil␛\\click␛]8;;␛\\"),
        ("\x1b[2J\x1b[H", "␛[2J␛[H"),
        ("\x1b[1A\x1b[2K", "␛[1A␛[2K"),
        ("\x1bc", "␛c"),
        ("\x1b[?1049h", "␛[?1049h"),
        ("\x1b[6n", "␛[6n"),
        ("\x1b[c\x05", "␛[c␅"),
        ("\x1b[>c", "␛[>c"),
        ("\x1bP+q544e\x1b\\", "␛P+q544e␛\\"),
        ("\x1b_Gf=100;AAAA\x1b\\", "␛_Gf=100;AAAA␛\\"),
        ("\x1b^x\x1b\\\x1bXx\x1b\\", "␛^x␛\\␛Xx␛\\"),
        ("\x1b[8mhidden", "␛[8mhidden"),
        ("\x1b[31;08mhidden", "␛[31;08mhidden"),
        ("\x1b[38;5;1;8mhidden", "␛[38;5;1;8mhidden"),
        ("\x1b[38;8mhidden", "␛[38;8mhidden"),
        ("\x1b[31:8mx", "␛[31:8mx"),
        ("\x1b[?31mx", "␛[?31mx"),
        ("\x1b[31 mx", "␛[31 mx"),
        ("\x1b[3\x1b[31mx\x1b[m", "␛[3\x1b[31mx\x1b[m"),
        ("\x1b\x1b[31mx\x1b[m", "␛\x1b[31mx\x1b[m"),
        ("\x1b[3\n1mx", "␛[3\n1mx"),
        ("\x1b[;;;;m", "\x1b[;;;;m"),
        ("\x1b", "␛"),
        ("\x1b[", "␛["),
        ("\x1b[31", "␛[31"),
        ("\x1b(0lqk\x1b(B", "␛(0lqk␛(B"),
        ("\x0eabc\x0f", "␎abc␏"),
        ("safe\rEVIL", "safe␍EVIL"),
        ("50%\r", "50%␍"),
        ("\r\r\n", "␍\n"),
        ("password\x08\x08\x08\x08", "password␈␈␈␈"),
        ("a\0b\x0b\x0c\x7f\x1a", "a␀b␋␌␡␚"),
        ("\u{9b}2J\u{9d}0;x\u{9c}\u{90}q\u{85}", "<U+009B>2J<U+009D>0;x<U+009C><U+0090>q<U+0085>"),
    ] {
        check(text.as_bytes(), expected);
    }
    let long = format!("\x1b[{}m", "1;".repeat(40));
    assert!(shown(&[long.as_bytes()], true).starts_with("␛[1;1;"));
}

#[test]
fn hidden_and_turned_letters_are_shown() {
    for (text, expected) in [
        ("user\u{202e}txt.exe", "user<U+202E>txt.exe"),
        ("\u{2066}a\u{2069}\u{2067}b\u{2069}\u{2068}c", "<U+2066>a<U+2069><U+2067>b<U+2069><U+2068>c"),
        ("\u{202a}\u{202b}\u{202c}\u{202d}", "<U+202A><U+202B><U+202C><U+202D>"),
        ("\u{200e}\u{200f}\u{61c}", "<U+200E><U+200F><U+061C>"),
        ("pass\u{200b}word\u{feff}\u{2060}\u{ad}", "pass<U+200B>word<U+FEFF><U+2060><U+00AD>"),
        ("a\u{2028}b\u{2029}", "a<U+2028>b<U+2029>"),
        ("\u{e0041}\u{e0042}\u{e007f}", "<U+E0041><U+E0042><U+E007F>"),
        ("\u{3164}\u{115f}\u{1160}\u{ffa0}", "<U+3164><U+115F><U+1160><U+FFA0>"),
        ("\u{fff9}a\u{fffb}", "<U+FFF9>a<U+FFFB>"),
    ] {
        check(text.as_bytes(), expected);
    }
}

/// Bytes that are no text, among them the controls of an eight-bit terminal.
#[test]
fn bytes_that_are_no_text_are_replaced() {
    for (bytes, expected) in [
        (&b"\x9b2J"[..], "\u{FFFD}2J"),
        (b"\x9d0;x\x9c", "\u{FFFD}0;x\u{FFFD}"),
        (b"a\xff\xfeb", "a\u{FFFD}\u{FFFD}b"),
        (b"\xe4\xbd", "\u{FFFD}"),
        (b"\xe4\xbd\x1b]0;x\x07", "\u{FFFD}␛]0;x␇"),
        (b"\x1b\xc2", "␛\u{FFFD}"),
    ] {
        assert_eq!(shown(&[bytes], true), expected, "{bytes:?}");
    }
    check("\x1b[31m你\x1b[0m".as_bytes(), "\x1b[31m你\x1b[0m");
}

/// Whatever is thrown at it: no control but line breaks, tabs and colours comes out.
#[test]
fn nothing_else_ever_comes_out() {
    let alphabet = [
        "\x1b", "[", "]", "m", "3", ";", "8", "0", "\r", "\n", "\x07", "\u{9b}", "\u{202e}", "x", "é", "\x08", "?", "P",
    ];
    let mut seed = 0x9e37_79b9_7f4a_7c15_u64;
    for _ in 0..20_000 {
        let mut text = String::new();
        for _ in 0..12 {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            text.push_str(alphabet[(seed >> 33) as usize % alphabet.len()]);
        }
        let mut rest = shown(&[text.as_bytes()], true);
        while let Some(at) = rest.find('\x1b') {
            let end = at + rest[at..].find('m').unwrap_or_else(|| panic!("{text:?}"));
            let numbers = rest[at + 1..end].strip_prefix('[').unwrap_or_else(|| panic!("{text:?}"));
            assert!(numbers.chars().all(|c| c.is_ascii_digit() || c == ';'), "{text:?}");
            assert!(!numbers.split(';').any(|order| order == "8"), "{text:?}");
            rest.replace_range(at..=end, "");
        }
        assert!(!rest.chars().any(|c| is_hidden(c) || (c.is_control() && c != '\n' && c != '\t')), "{text:?}");
    }
}

#[test]
fn json_stays_the_same_json() {
    for text in ["\u{9b}2J\u{7f}", "\u{202e}x", "\u{e0041}", "plain é 你", "\x1b\r\n\t"] {
        let value = serde_json::json!({ text: [text] });
        for written in [value.to_string(), format!("{value:#}")] {
            let safe = json(&written);
            assert!(!safe.chars().any(|c| is_hidden(c) && c != '\n'), "{safe:?}");
            assert_eq!(serde_json::from_str::<serde_json::Value>(&safe).unwrap(), value);
        }
    }
}
