//! Capital and small letters, as a language has them.

use icu_casemap::CaseMapper;
use icu_locale::LanguageIdentifier;

use crate::error::{IntlError, Result};

fn language(tag: &str) -> Result<LanguageIdentifier> {
    let language = tag.split('-').next().unwrap_or_default();
    LanguageIdentifier::try_from_str(language).map_err(|_| IntlError::BadLocale)
}

/// All letters as capitals.
pub fn upper(text: &str, tag: &str) -> Result<String> {
    Ok(CaseMapper::new().uppercase_to_string(text, &language(tag)?).into_owned())
}

/// All letters small.
pub fn lower(text: &str, tag: &str) -> Result<String> {
    Ok(CaseMapper::new().lowercase_to_string(text, &language(tag)?).into_owned())
}
