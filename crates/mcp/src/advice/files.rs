//! After a failure of a file tool, by its own code.

use cove_files::FileErrorCode;

/// What to do; none: Bay's own advice fits.
pub(crate) fn next_step(code: FileErrorCode) -> Option<&'static str> {
    Some(match code {
        FileErrorCode::FileNotFound => "ls and find show what is there.",
        FileErrorCode::NotAFile => "Name a file; ls shows what is in a folder.",
        FileErrorCode::NotADirectory => "A file is where a folder should be: choose another path, or read the file.",
        FileErrorCode::InvalidPath => "Choose another path below /workspace.",
        FileErrorCode::OffsetBeyondEnd => "Pass a smaller `offset`.",
        FileErrorCode::TextNotFound => "Read the file and copy the text exactly as it is there.",
        FileErrorCode::NotUnique => "Put more of the lines around it into `oldText`.",
        FileErrorCode::NoChange => "Nothing to do, unless you meant another text.",
        FileErrorCode::OverlappingEdits => "Make one edit of those that overlap.",
        FileErrorCode::InvalidArgs => "Nothing was done. Correct the arguments and call again.",
        FileErrorCode::QuotaExceeded => {
            "Write less, delete files that are no longer needed, or ask the user for more room."
        }
        FileErrorCode::FileTooLarge => "Work on parts of it with execute_python or execute_shell.",
        FileErrorCode::PermissionDenied => "Choose another path; `ls -l` in execute_shell shows whose this one is.",
        FileErrorCode::Conflict => "Read the file again: it has changed meanwhile.",
        FileErrorCode::Timeout => "Ask for less: a smaller folder, a narrower pattern.",
        FileErrorCode::NotUtf8 => "Write the file anew in UTF-8, then edit it.",
        FileErrorCode::IoError => return None,
    })
}
