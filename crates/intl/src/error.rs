//! What can be wrong with a request.

/// Why something cannot be written in a language.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum IntlError {
    /// Not the name of a locale at all.
    #[error("Incorrect locale information provided")]
    BadLocale,
    /// A language that others know.
    #[error(
        "This engine has no data for the language of {0}; use engine \"browser\" for it, or one of its own languages: {1}"
    )]
    NoLanguage(String, String),
    /// An option with a value that it cannot have.
    #[error("Value {value} out of range for the option {option}")]
    BadOption {
        /// Its name.
        option: &'static str,
        /// What was asked for.
        value: String,
    },
    /// No such time zone.
    #[error("Invalid time zone specified: {0}")]
    NoZone(String),
    /// A calendar that others know.
    #[error("This engine does not know the calendar {0}; use engine \"browser\" for it")]
    NoCalendar(String),
    /// A number or a moment that cannot be written.
    #[error("Invalid time value")]
    BadTime,
    /// Text that is no number.
    #[error("Invalid number value")]
    BadNumber,
    /// The compiled-in data does not fit to the code.
    #[error("the data of {0} cannot be read")]
    Data(String),
}

impl IntlError {
    /// Whether Chrome has what is missing here.
    pub fn is_elsewhere(&self) -> bool {
        matches!(self, Self::NoLanguage(..) | Self::NoCalendar(..))
    }
}

/// The result of everything here.
pub(crate) type Result<T> = std::result::Result<T, IntlError>;
