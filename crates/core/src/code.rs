//! Every error code of Cove's two executor contracts: what it is called, how grave it is, whether to try again.
//!
//! The two contracts name the same troubles differently: the stateful executor says `ERR_EXEC_TIMEOUT` where
//! `run_javascript` says `execution_timeout`. Both lists are complete here, and nowhere else is a code spelled out.

use serde::{Deserialize, Serialize};

/// How grave an executor error is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "UPPERCASE")]
pub enum Severity {
    /// Something went wrong that user code may handle; the executor is unharmed.
    Warn,
    /// This call failed.
    Error,
    /// No executor can be had at all.
    Fatal,
}

/// An enum of stable codes, each with the text that stands for it on every wire: `ALL`, `as_str`, `Display` and `Serialize`. The
/// crate that uses it has `serde`.
#[macro_export]
macro_rules! codes {
    ($(#[$meta:meta])* $name:ident { $($(#[$vdoc:meta])* $variant:ident = $text:literal,)* }) => {
        $(#[$meta])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, ::serde::Serialize)]
        pub enum $name {$(
            $(#[$vdoc])*
            #[serde(rename = $text)]
            $variant,
        )*}

        impl $name {
            /// Every code, in the order in which they are declared.
            pub const ALL: &'static [Self] = &[$(Self::$variant),*];

            /// The code as it is written in answers.
            pub const fn as_str(self) -> &'static str {
                match self { $(Self::$variant => $text),* }
            }
        }

        impl ::std::fmt::Display for $name {
            fn fmt(&self, f: &mut ::std::fmt::Formatter<'_>) -> ::std::fmt::Result {
                f.write_str(self.as_str())
            }
        }
    };
}

codes! {
    /// Codes of the stateful executor (`CodeExecutor`).
    #[derive(Deserialize)]
    ErrorCode {
        /// The hardened world could not be made.
        SesInitFailed = "ERR_SES_INIT_FAILED",
        /// The code was refused before anything ran.
        AstLintViolation = "ERR_AST_LINT_VIOLATION",
        /// A module that is not on the list.
        ImportNotAllowed = "ERR_IMPORT_NOT_ALLOWED",
        /// The deadline passed.
        ExecTimeout = "ERR_EXEC_TIMEOUT",
        /// The step counter ran out.
        MaxOpsExceeded = "ERR_MAX_OPS_EXCEEDED",
        /// The memory limit was reached.
        MemoryLimit = "ERR_MEMORY_LIMIT",
        /// User code threw.
        RuntimeException = "ERR_RUNTIME_EXCEPTION",
        /// A tool failed, and user code let it pass.
        ToolProxyFail = "ERR_TOOL_PROXY_FAIL",
        /// A call that the executor's state does not allow.
        InvalidState = "ERR_INVALID_STATE",
        /// The executor is gone, but not everything of it could be cleared away.
        CleanupFailed = "ERR_CLEANUP_FAILED",
        /// The engine itself crashed; its session is lost.
        EngineCrashed = "ERR_ENGINE_CRASHED",
    }
}

impl ErrorCode {
    /// How grave an error with this code is.
    pub const fn severity(self) -> Severity {
        match self {
            Self::SesInitFailed => Severity::Fatal,
            Self::ToolProxyFail | Self::CleanupFailed => Severity::Warn,
            _ => Severity::Error,
        }
    }

    /// Whether the same call may succeed when it is made again unchanged.
    ///
    /// A refusal, an exception, a spent step counter or a crash would most likely repeat itself; a tool, the clock or the state of
    /// the executor may answer differently next time.
    pub const fn retryable(self) -> bool {
        matches!(self, Self::ExecTimeout | Self::ToolProxyFail | Self::InvalidState | Self::SesInitFailed)
    }
}

codes! {
    /// Codes of the one-shot tool (`run_javascript`).
    #[derive(Deserialize)]
    ToolErrorCode {
        /// The arguments do not have the documented types.
        InvalidArgs = "invalid_args",
        /// The code is longer than the limit.
        CodeTooLarge = "code_too_large",
        /// The result's JSON is longer than the limit.
        ResultTooLarge = "result_too_large",
        /// The result cannot be written as JSON.
        NonJsonSerializableReturn = "non_json_serializable_return",
        /// A syntax error, an exception or a rejected promise.
        JsExecutionFailed = "js_execution_failed",
        /// The deadline passed.
        ExecutionTimeout = "execution_timeout",
        /// The code ran, its picture could not be saved.
        CanvasExportFailed = "canvas_export_failed",
        /// This engine has no canvas.
        CanvasNotAvailable = "canvas_not_available",
        /// A browser is needed and there is none.
        BrowserNotAvailable = "browser_not_available",
        /// Chrome is there, a tab could not be had.
        PageCreationFailed = "page_creation_failed",
        /// The optional legacy scan refused the code.
        BlockedCode = "blocked_code",
        /// The engine itself crashed.
        EngineCrashed = "engine_crashed",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_travel_as_their_own_text() {
        for code in ErrorCode::ALL {
            assert_eq!(serde_json::to_value(code).unwrap(), code.as_str());
            assert!(code.as_str().starts_with("ERR_"));
        }
        for code in ToolErrorCode::ALL {
            assert_eq!(serde_json::to_value(code).unwrap(), code.as_str());
            assert_eq!(serde_json::from_value::<ToolErrorCode>(code.as_str().into()).unwrap(), *code);
        }
        assert_eq!((ErrorCode::ALL.len(), ToolErrorCode::ALL.len()), (11, 12));
    }

    #[test]
    fn severities_are_the_contracts() {
        assert_eq!(serde_json::to_value(ErrorCode::SesInitFailed.severity()).unwrap(), "FATAL");
        assert_eq!(ErrorCode::ToolProxyFail.severity(), Severity::Warn);
        assert_eq!(ErrorCode::CleanupFailed.severity(), Severity::Warn);
        assert_eq!(ErrorCode::MaxOpsExceeded.severity(), Severity::Error);
    }
}
