//! Values of a configuration: sizes, secrets, capabilities, kinds.

use std::fmt;
use std::str::FromStr;

use serde::de::{self, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// Something that is never printed.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Secret(String);

impl Secret {
    /// A secret.
    pub fn new(text: impl Into<String>) -> Self {
        Self(text.into())
    }

    /// What it is; for comparing and hashing, never for printing.
    pub fn reveal(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret(…)")
    }
}

/// An amount of memory: `512m`, `1g`, `1.5GiB`, or bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct MemorySize(u64);

impl MemorySize {
    /// So many mebibytes.
    pub const fn mebibytes(count: u64) -> Self {
        Self(count << 20)
    }

    /// In bytes.
    pub fn bytes(self) -> u64 {
        self.0
    }
}

impl FromStr for MemorySize {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let lower = text.trim().to_ascii_lowercase();
        let digits = lower.trim_end_matches(|c: char| c.is_ascii_alphabetic());
        let unit = lower[digits.len()..].trim_end_matches("ib").trim_end_matches('b');
        let factor: u64 = match unit {
            "" => 1,
            "k" => 1 << 10,
            "m" => 1 << 20,
            "g" => 1 << 30,
            "t" => 1 << 40,
            _ => return Err(format!("invalid memory size {text:?}: write 512m or 1g")),
        };
        let wrong = || format!("invalid memory size {text:?}: write 512m or 1g");
        let bytes = match digits.trim().parse::<u64>() {
            Ok(whole) => whole.checked_mul(factor).ok_or_else(wrong)?,
            Err(_) => {
                let part: f64 = digits.trim().parse().map_err(|_| wrong())?;
                // Half a gibibyte is meant to be a round number; what is lost below a byte is nothing.
                #[allow(clippy::cast_precision_loss, clippy::cast_possible_truncation, clippy::cast_sign_loss)]
                let bytes = (part * factor as f64).round() as u64;
                if part.is_finite() && part > 0.0 { bytes } else { return Err(wrong()) }
            }
        };
        if bytes == 0 { Err(wrong()) } else { Ok(Self(bytes)) }
    }
}

impl fmt::Display for MemorySize {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (unit, shift) in [("g", 30), ("m", 20), ("k", 10)] {
            if self.0 >= 1 << shift && self.0.is_multiple_of(1 << shift) {
                return write!(f, "{}{unit}", self.0 >> shift);
            }
        }
        write!(f, "{}", self.0)
    }
}

impl Serialize for MemorySize {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for MemorySize {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Amount;
        impl Visitor<'_> for Amount {
            type Value = MemorySize;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a memory size such as 512m or 1g")
            }
            fn visit_u64<E: de::Error>(self, bytes: u64) -> Result<MemorySize, E> {
                self.visit_str(&bytes.to_string())
            }
            fn visit_i64<E: de::Error>(self, bytes: i64) -> Result<MemorySize, E> {
                self.visit_str(&bytes.to_string())
            }
            fn visit_str<E: de::Error>(self, text: &str) -> Result<MemorySize, E> {
                text.parse().map_err(E::custom)
            }
        }
        deserializer.deserialize_any(Amount)
    }
}

/// What a container can do.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Capability {
    /// Python that remembers.
    #[serde(alias = "ipython")]
    Python,
    /// Shell commands.
    Shell,
    /// Files in the workspace.
    Filesystem,
    /// A terminal.
    Terminal,
    /// JavaScript and TypeScript.
    Javascript,
    /// The browser by command.
    Browser,
    /// Pictures of pages.
    Screenshot,
}

impl Capability {
    /// As it is written.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Python => "python",
            Self::Shell => "shell",
            Self::Filesystem => "filesystem",
            Self::Terminal => "terminal",
            Self::Javascript => "javascript",
            Self::Browser => "browser",
            Self::Screenshot => "screenshot",
        }
    }
}

impl fmt::Display for Capability {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// Which runtime a container is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum RuntimeType {
    /// The work runtime.
    #[default]
    Ship,
    /// The browser runtime.
    #[serde(alias = "browser")]
    Gull,
}

impl RuntimeType {
    /// As it is written.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Ship => "ship",
            Self::Gull => "gull",
        }
    }

    /// What it can do when a profile does not say.
    pub fn capabilities(self) -> Vec<Capability> {
        use Capability::{Browser, Filesystem, Javascript, Python, Screenshot, Shell, Terminal};
        match self {
            Self::Ship => vec![Python, Shell, Filesystem, Terminal, Javascript],
            Self::Gull => vec![Browser, Screenshot, Filesystem],
        }
    }
}

/// A value of an environment: a text, or a number or a truth value that is taken for one.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(transparent)]
pub struct EnvValue(pub String);

impl<'de> Deserialize<'de> for EnvValue {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Scalar;
        impl Visitor<'_> for Scalar {
            type Value = EnvValue;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a text")
            }
            fn visit_bool<E>(self, value: bool) -> Result<EnvValue, E> {
                Ok(EnvValue(value.to_string()))
            }
            fn visit_i64<E>(self, value: i64) -> Result<EnvValue, E> {
                Ok(EnvValue(value.to_string()))
            }
            fn visit_u64<E>(self, value: u64) -> Result<EnvValue, E> {
                Ok(EnvValue(value.to_string()))
            }
            fn visit_f64<E>(self, value: f64) -> Result<EnvValue, E> {
                Ok(EnvValue(value.to_string()))
            }
            fn visit_str<E>(self, value: &str) -> Result<EnvValue, E> {
                Ok(EnvValue(value.to_owned()))
            }
        }
        deserializer.deserialize_any(Scalar)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn amounts_of_memory() {
        for (text, bytes, shown) in [
            ("512m", 512 << 20, "512m"),
            ("1g", 1 << 30, "1g"),
            ("1.5GiB", 1536 << 20, "1536m"),
            ("2048MB", 2 << 30, "2g"),
            ("64 k", 64 << 10, "64k"),
            ("1000", 1000, "1000"),
        ] {
            let size: MemorySize = text.parse().unwrap();
            assert_eq!((size.bytes(), size.to_string().as_str()), (bytes, shown), "{text}");
        }
        for wrong in ["", "m", "-1m", "0", "1x", "1 g g", "99999999999t", "nan", "inf g"] {
            assert!(wrong.parse::<MemorySize>().is_err(), "{wrong}");
        }
    }
}
