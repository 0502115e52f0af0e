//! Python's tracebacks, as long as a model needs them: its own frames, and what was raised.
//!
//! A failed request has thirty frames of the standard library between the caller's line and the error, and tells nobody
//! anything with them. Whoever wants all of it has the history, or prints it.

/// Frames of the caller's own that are shown: so many of the first, so many of the last.
const FIRST: usize = 2;
const LAST: usize = 2;

/// Before each traceback.
const HEADER: &str = "Traceback (most recent call last):";

/// Between two tracebacks.
const JOINTS: [&str; 2] = [
    "The above exception was the direct cause of the following exception:",
    "During handling of the above exception, another exception occurred:",
];

/// The shortened form; a text that is no traceback stays as it is.
pub(crate) fn shortened(error: &str) -> String {
    let mut parts: Vec<(Option<&str>, Vec<&str>)> = vec![(None, Vec::new())];
    for line in error.lines() {
        match JOINTS.iter().find(|joint| **joint == line) {
            Some(joint) => parts.push((Some(joint), Vec::new())),
            None => parts.last_mut().into_iter().for_each(|(_, lines)| lines.push(line)),
        }
    }
    let count = parts.len();
    let mut text = Vec::new();
    for (number, (joint, lines)) in parts.iter().enumerate() {
        let part = Part::read(lines);
        // What a library caught from itself is its own affair.
        if number + 1 < count && !part.frames.iter().any(Frame::is_own) {
            continue;
        }
        text.extend(joint.filter(|_| !text.is_empty()).map(str::to_owned));
        part.write(&mut text);
    }
    text.join("\n")
}

/// One traceback.
struct Part<'a> {
    before: Vec<&'a str>,
    frames: Vec<Frame<'a>>,
    after: Vec<&'a str>,
}

#[derive(PartialEq)]
struct Frame<'a> {
    place: &'a str,
    lines: Vec<&'a str>,
}

impl Frame<'_> {
    /// Whether it is the caller's own: a cell, or a file of the workspace.
    fn is_own(&self) -> bool {
        ["  File \"<cell", "  File \"/workspace/"].iter().any(|begin| self.place.starts_with(begin))
    }
}

impl<'a> Part<'a> {
    fn read(lines: &[&'a str]) -> Self {
        let (mut before, mut frames, mut after): (Vec<&str>, Vec<Frame<'_>>, Vec<&str>) = Default::default();
        let traced = lines.contains(&HEADER);
        for line in lines.iter().copied().filter(|line| !line.is_empty()) {
            if line == HEADER || line.starts_with("  [Previous line repeated") {
                continue;
            }
            if traced && after.is_empty() && line.starts_with("  File \"") {
                frames.push(Frame { place: line, lines: Vec::new() });
            } else if after.is_empty() && line.starts_with("    ") && !frames.is_empty() {
                frames.last_mut().into_iter().for_each(|frame| frame.lines.push(line));
            } else if frames.is_empty() {
                before.push(line);
            } else {
                after.push(line);
            }
        }
        // Recursion: the same frame over and over.
        frames.dedup();
        Self { before, frames, after }
    }

    fn write(&self, text: &mut Vec<String>) {
        text.extend(self.before.iter().map(|line| (*line).to_owned()));
        let own: Vec<usize> = (0..self.frames.len()).filter(|place| self.frames[*place].is_own()).collect();
        let shown = |place: &usize| match own.iter().position(|own| own == place) {
            Some(at) => at < FIRST || at + LAST >= own.len(),
            // Where nothing is the caller's own, the last is where it happened.
            None => own.is_empty() && place + 1 == self.frames.len(),
        };
        for place in (0..self.frames.len()).filter(shown) {
            let frame = &self.frames[place];
            text.push(frame.place.to_owned());
            // The place within a line is worth its room where the failure is in that very line.
            let here = place + 1 == self.frames.len();
            text.extend(frame.lines.iter().filter(|line| here || !is_mark(line)).map(|line| (*line).to_owned()));
        }
        text.extend(self.after.iter().map(|line| (*line).to_owned()));
    }
}

fn is_mark(line: &str) -> bool {
    line.chars().all(|c| matches!(c, ' ' | '^' | '~'))
}

#[cfg(test)]
mod tests {
    use super::shortened;

    #[test]
    fn own_frames_and_what_was_raised_are_kept() {
        for (error, expected) in [
            ("SystemExit: 3", "SystemExit: 3"),
            (
                "  File \"<cell 7>\", line 1\n    for n in range(3)\n                     ^\nSyntaxError: expected ':'",
                "  File \"<cell 7>\", line 1\n    for n in range(3)\n                     ^\nSyntaxError: expected ':'",
            ),
            (
                "Traceback (most recent call last):\n  File \"<cell 1>\", line 2, in <module>\n    a + 1\n    ^\nNameError: a",
                "  File \"<cell 1>\", line 2, in <module>\n    a + 1\n    ^\nNameError: a",
            ),
            (
                "Traceback (most recent call last):\n  File \"/usr/lib/a.py\", line 1, in f\n    g()\nOSError: down\n\n\
                 During handling of the above exception, another exception occurred:\n\n\
                 Traceback (most recent call last):\n  File \"<cell 1>\", line 2, in <module>\n    open()\n    ^^^^^^\n  \
                 File \"/usr/lib/b.py\", line 9, in open\n    raise Error\nError: no way\nNote: more",
                "  File \"<cell 1>\", line 2, in <module>\n    open()\nError: no way\nNote: more",
            ),
            (
                "Traceback (most recent call last):\n  File \"/usr/lib/a.py\", line 1, in f\n    g()\n  \
                 File \"/usr/lib/a.py\", line 3, in g\n    x\nOSError: down",
                "  File \"/usr/lib/a.py\", line 3, in g\n    x\nOSError: down",
            ),
            (
                "Traceback (most recent call last):\n  File \"<cell 1>\", line 4, in <module>\n    f(0)\n  \
                 File \"<cell 1>\", line 2, in f\n    f()\n  File \"<cell 1>\", line 2, in f\n    f()\n  \
                 [Previous line repeated 988 more times]\nRecursionError: too deep",
                "  File \"<cell 1>\", line 4, in <module>\n    f(0)\n  File \"<cell 1>\", line 2, in f\n    f()\n\
                 RecursionError: too deep",
            ),
        ] {
            assert_eq!(shortened(error), expected);
        }
    }
}
