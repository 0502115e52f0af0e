//! After a failure of a file tool, by its own code.

/// What to do; none: Bay's own advice fits.
pub(crate) fn next_step(code: &str) -> Option<&'static str> {
    Some(match code {
        "file_not_found" => "ls and find show what is there.",
        "not_a_file" => "Name a file; ls shows what is in a folder.",
        "not_a_directory" => "A file is where a folder should be: choose another path, or read the file.",
        "invalid_path" => "Choose another path below /workspace.",
        "offset_beyond_end" => "Pass a smaller `offset`.",
        "text_not_found" => "Read the file and copy the text exactly as it is there.",
        "not_unique" => "Put more of the lines around it into `oldText`.",
        "no_change" => "Nothing to do, unless you meant another text.",
        "overlapping_edits" => "Make one edit of those that overlap.",
        "invalid_args" => "Nothing was done. Correct the arguments and call again.",
        "quota_exceeded" => "Write less, delete files that are no longer needed, or ask the user for more room.",
        "file_too_large" => "Work on parts of it with execute_python or execute_shell.",
        "permission_denied" => "Choose another path; `ls -l` in execute_shell shows whose this one is.",
        "conflict" => "Read the file again: it has changed meanwhile.",
        "timeout" => "Ask for less: a smaller folder, a narrower pattern.",
        _ => return None,
    })
}
