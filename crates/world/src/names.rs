//! Which names a host may give to variables and tools: those that code can write and that Cove does not need itself.

use crate::WorldError;

/// Words of the language, and names that would break every later cell.
const RESERVED: &[&str] = &[
    "await",
    "break",
    "case",
    "catch",
    "class",
    "const",
    "continue",
    "debugger",
    "default",
    "delete",
    "do",
    "else",
    "enum",
    "export",
    "extends",
    "false",
    "finally",
    "for",
    "function",
    "if",
    "implements",
    "import",
    "in",
    "instanceof",
    "interface",
    "let",
    "new",
    "null",
    "package",
    "private",
    "protected",
    "public",
    "return",
    "static",
    "super",
    "switch",
    "this",
    "throw",
    "true",
    "try",
    "typeof",
    "var",
    "void",
    "while",
    "with",
    "yield",
    "arguments",
    "eval",
    "undefined",
    "NaN",
    "Infinity",
    "globalThis",
    "final_answer",
];

/// Refuses what cannot be a global of the guest's.
pub(crate) fn check(name: &str) -> Result<(), WorldError> {
    let refuse = |why| Err(WorldError::Name { name: name.to_owned(), why });
    let mut letters = name.chars();
    let starts = letters.next().is_some_and(|c| c == '_' || c == '$' || c.is_alphabetic());
    if !starts || !letters.all(|c| c == '_' || c == '$' || c.is_alphanumeric()) {
        return refuse("it is not a name that code can write");
    }
    if name.starts_with("__cove") && name != cove_core::FS_TOOL || name == "__proto__" {
        return refuse("Cove keeps it for itself");
    }
    if RESERVED.contains(&name) {
        return refuse("it is a word of the language or of Cove");
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::check;

    #[test]
    fn names_that_code_can_write() {
        for name in ["a", "_x", "$", "größe", "a1", "Array"] {
            assert_eq!(check(name), Ok(()), "{name}");
        }
        for name in ["", "1a", "a-b", "a b", "let", "final_answer", "__cove_n", "undefined", "__proto__", "a\0"] {
            assert!(check(name).is_err(), "{name:?} was taken");
        }
    }
}
