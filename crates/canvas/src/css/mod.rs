//! The little of CSS that the canvas speaks: tokens and lengths, shared by colours, fonts, filters and transforms.

pub(crate) mod length;
pub(crate) mod remember;
pub(crate) mod token;

pub(crate) use token::{Cursor, Token, tokenize};
