//! What a number format was asked for. The options are checked and completed by whoever hands them in.

use serde::Deserialize;

/// The options of `Intl.NumberFormat`, with all defaults filled in.
#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct NumberSpec {
    /// Canonical names, the best first.
    pub(crate) locales: Vec<String>,
    /// Other digits than the locale's.
    #[serde(default)]
    pub(crate) numbering_system: Option<String>,
    /// What kind of number.
    #[serde(default)]
    pub(crate) style: Style,
    /// Three capital letters.
    #[serde(default)]
    pub(crate) currency: Option<String>,
    /// How the currency is called.
    #[serde(default)]
    pub(crate) currency_display: CurrencyDisplay,
    /// Whether negative amounts are in brackets, where the language has that.
    #[serde(default)]
    pub(crate) accounting: bool,
    /// `meter` or `kilometer-per-hour`.
    #[serde(default)]
    pub(crate) unit: Option<String>,
    /// How the unit is called.
    #[serde(default)]
    pub(crate) unit_display: Width,
    /// Powers of ten.
    #[serde(default)]
    pub(crate) notation: Notation,
    /// Words instead of letters in compact notation.
    #[serde(default)]
    pub(crate) compact_long: bool,
    /// When a sign is shown.
    #[serde(default)]
    pub(crate) sign_display: SignDisplay,
    /// When thousands are set apart.
    #[serde(default)]
    pub(crate) grouping: Grouping,
    /// How the number is rounded.
    pub(crate) rounding: Rounding,
}

/// How numbers are rounded.
#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Rounding {
    /// Which of the limits count.
    pub(crate) kind: RoundingKind,
    /// Digits before the point, at least.
    pub(crate) integer: u8,
    /// Digits behind it, at least and at most.
    pub(crate) fraction: (u8, u8),
    /// Digits in all, at least and at most.
    pub(crate) significant: (u8, u8),
    /// To multiples of this many of the last digit.
    pub(crate) increment: u16,
    /// Up, down, halves.
    pub(crate) mode: Mode,
    /// No zeros behind the point of whole numbers.
    pub(crate) strip: bool,
}

/// Which limits count.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) enum RoundingKind {
    FractionDigits,
    SignificantDigits,
    MorePrecision,
    LessPrecision,
}

/// Where what is between goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) enum Mode {
    Ceil,
    Floor,
    Expand,
    Trunc,
    HalfCeil,
    HalfFloor,
    HalfExpand,
    HalfTrunc,
    HalfEven,
}

/// What kind of number.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) enum Style {
    #[default]
    Decimal,
    Percent,
    Currency,
    Unit,
}

/// How a currency is called.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) enum CurrencyDisplay {
    #[default]
    Symbol,
    NarrowSymbol,
    Code,
    Name,
}

/// Long, short, narrow.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) enum Width {
    Long,
    #[default]
    Short,
    Narrow,
}

impl Width {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Long => "long",
            Self::Short => "short",
            Self::Narrow => "narrow",
        }
    }
}

/// Powers of ten.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) enum Notation {
    #[default]
    Standard,
    Scientific,
    Engineering,
    Compact,
}

/// When a sign is shown.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) enum SignDisplay {
    #[default]
    Auto,
    Always,
    Never,
    ExceptZero,
    Negative,
}

/// When thousands are set apart.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) enum Grouping {
    #[default]
    Auto,
    Always,
    Min2,
    Never,
}
