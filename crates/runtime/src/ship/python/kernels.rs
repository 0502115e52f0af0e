//! The interpreters of one sandbox: the usual one, and a few with names, each with variables of its own.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use super::interpreter::Recipe;
use super::kernel::Kernel;
use crate::ship::error::ApiError;
use cove_runtime_api::RefusalCode;

/// Interpreters with names at once. Each is a Python process with what it has imported.
const MAX_NAMED: usize = 8;

/// The longest name.
const MAX_NAME_CHARS: usize = 64;

/// All of them.
#[derive(Debug, Clone)]
pub(crate) struct Kernels {
    usual: Kernel,
    named: Arc<Mutex<BTreeMap<String, Kernel>>>,
    recipe: Recipe,
}

impl Kernels {
    /// The usual one; the others start when they are named.
    pub(crate) fn new(recipe: Recipe) -> Self {
        // What is imported ahead is imported once: each copy of it would cost its memory.
        let plain = Recipe { preload: None, ..recipe.clone() };
        Self { usual: Kernel::new(recipe), named: Arc::default(), recipe: plain }
    }

    /// The one without a name.
    pub(crate) fn usual(&self) -> &Kernel {
        &self.usual
    }

    /// The one with this name, made where there is none.
    pub(super) fn named(&self, name: Option<&str>) -> Result<Kernel, ApiError> {
        let Some(name) = name else { return Ok(self.usual.clone()) };
        let plain = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
        if name.is_empty() || name.len() > MAX_NAME_CHARS || !name.chars().all(plain) {
            return Err(ApiError::validation(format!(
                "`session` must have 1 to {MAX_NAME_CHARS} letters, digits, `-` and `_`"
            )));
        }
        let mut named = self.named.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(kernel) = named.get(name) {
            return Ok(kernel.clone());
        }
        if named.len() >= MAX_NAMED {
            return Err(ApiError::too_many(format!("{MAX_NAMED} Python sessions are open; end one of them first")));
        }
        let kernel = Kernel::new(self.recipe.clone());
        named.insert(name.to_owned(), kernel.clone());
        Ok(kernel)
    }

    /// Ends one with everything that it has started.
    pub(super) async fn end(&self, name: &str) -> Result<(), ApiError> {
        let kernel = self.named.lock().unwrap_or_else(PoisonError::into_inner).remove(name);
        let missing = || ApiError::not_found(RefusalCode::NotFound, format!("There is no Python session {name:?}"));
        kernel.ok_or_else(missing)?.restart().await
    }
}
