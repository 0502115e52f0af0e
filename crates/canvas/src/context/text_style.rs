//! The text attributes and their words.

use std::borrow::Cow;
use std::rc::Rc;

use super::Context2d;
use crate::css::{Token, length, tokenize};
use crate::fonts::shape::Caps;
use crate::fonts::spec::{FontSpec, stretch_percent};

/// An attribute whose value is one of a few words.
macro_rules! words {
    ($(#[$doc:meta])* $name:ident { $($(#[$vdoc:meta])* $variant:ident = $word:literal),+ $(,)? }) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
        pub enum $name { $($(#[$vdoc])* $variant),+ }

        impl $name {
            /// Parses the word; it is case-sensitive.
            pub fn parse(word: &str) -> Option<Self> {
                match word { $($word => Some(Self::$variant),)+ _ => None }
            }

            /// The word.
            pub fn name(self) -> &'static str {
                match self { $(Self::$variant => $word),+ }
            }
        }
    };
}

words! {
    /// `textAlign`.
    TextAlign {
        /// The start of the line in its direction.
        #[default] Start = "start",
        /// The end of the line in its direction.
        End = "end",
        /// The left edge.
        Left = "left",
        /// The right edge.
        Right = "right",
        /// The middle.
        Center = "center",
    }
}
words! {
    /// `textBaseline`.
    TextBaseline {
        /// The line letters stand on.
        #[default] Alphabetic = "alphabetic",
        /// The top of the em square.
        Top = "top",
        /// The line some scripts hang from.
        Hanging = "hanging",
        /// The middle of the em square.
        Middle = "middle",
        /// The line ideographs stand on.
        Ideographic = "ideographic",
        /// The bottom of the em square.
        Bottom = "bottom",
    }
}
words! {
    /// `direction`.
    Direction {
        /// From the element; left to right where there is none.
        #[default] Inherit = "inherit",
        /// Left to right.
        Ltr = "ltr",
        /// Right to left.
        Rtl = "rtl",
    }
}
words! {
    /// `fontKerning`.
    FontKerning {
        /// Within words.
        #[default] Auto = "auto",
        /// Everywhere.
        Normal = "normal",
        /// Nowhere.
        None = "none",
    }
}
words! {
    /// `fontStretch`.
    FontStretch {
        /// 50 %.
        UltraCondensed = "ultra-condensed",
        /// 62.5 %.
        ExtraCondensed = "extra-condensed",
        /// 75 %.
        Condensed = "condensed",
        /// 87.5 %.
        SemiCondensed = "semi-condensed",
        /// 100 %.
        #[default] Normal = "normal",
        /// 112.5 %.
        SemiExpanded = "semi-expanded",
        /// 125 %.
        Expanded = "expanded",
        /// 150 %.
        ExtraExpanded = "extra-expanded",
        /// 200 %.
        UltraExpanded = "ultra-expanded",
    }
}
words! {
    /// `fontVariantCaps`.
    FontVariantCaps {
        /// As written.
        #[default] Normal = "normal",
        /// Small letters as small capitals.
        SmallCaps = "small-caps",
        /// All letters as small capitals.
        AllSmallCaps = "all-small-caps",
        /// Small letters as petite capitals.
        PetiteCaps = "petite-caps",
        /// All letters as petite capitals.
        AllPetiteCaps = "all-petite-caps",
        /// Capitals as small capitals.
        Unicase = "unicase",
        /// Capitals for titles.
        TitlingCaps = "titling-caps",
    }
}
words! {
    /// `textRendering`.
    TextRendering {
        /// As the engine likes.
        #[default] Auto = "auto",
        /// Quickly: no kerning, no ligatures.
        OptimizeSpeed = "optimizeSpeed",
        /// Nicely: kerning across words.
        OptimizeLegibility = "optimizeLegibility",
        /// Exactly: kerning across words, no hinting.
        GeometricPrecision = "geometricPrecision",
    }
}

/// A spacing as written and what it resolves to.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Spacing {
    pub(super) text: String,
    value: f64,
    unit: String,
}

impl Default for Spacing {
    fn default() -> Self {
        Self { text: "0px".into(), value: 0.0, unit: "px".into() }
    }
}

impl Spacing {
    fn parse(text: &str) -> Option<Self> {
        let tokens: Vec<Token> = tokenize(text).into_iter().filter(|t| *t != Token::Space).collect();
        let [Token::Dim(value, unit)] = tokens.as_slice() else { return None };
        if !value.is_finite() {
            return None;
        }
        length::px_per_unit(unit, 10.0)?;
        let text = format!("{}{unit}", crate::color::number_text(*value));
        Some(Self { text, value: *value, unit: unit.clone() })
    }

    /// Pixels at a font size.
    pub(super) fn px(&self, font_size: f64) -> f64 {
        self.value * length::px_per_unit(&self.unit, font_size).unwrap_or(0.0)
    }
}

/// Everything about text in the drawing state.
#[derive(Debug, Clone)]
pub(super) struct TextStyle {
    pub(super) font: FontSpec,
    pub(super) align: TextAlign,
    pub(super) baseline: TextBaseline,
    pub(super) direction: Direction,
    pub(super) kerning: FontKerning,
    pub(super) stretch: FontStretch,
    pub(super) caps: FontVariantCaps,
    pub(super) rendering: TextRendering,
    pub(super) letter_spacing: Spacing,
    pub(super) word_spacing: Spacing,
    pub(super) lang: Rc<str>,
}

impl Default for TextStyle {
    fn default() -> Self {
        Self {
            font: FontSpec::default(),
            align: TextAlign::default(),
            baseline: TextBaseline::default(),
            direction: Direction::default(),
            kerning: FontKerning::default(),
            stretch: FontStretch::default(),
            caps: FontVariantCaps::default(),
            rendering: TextRendering::default(),
            letter_spacing: Spacing::default(),
            word_spacing: Spacing::default(),
            lang: "inherit".into(),
        }
    }
}

impl TextStyle {
    /// The font with the attributes that override parts of it.
    pub(super) fn resolved(&self) -> Cow<'_, FontSpec> {
        if self.stretch == FontStretch::Normal {
            return Cow::Borrowed(&self.font);
        }
        let stretch = stretch_percent(self.stretch.name()).unwrap_or(100);
        Cow::Owned(FontSpec { stretch, ..self.font.clone() })
    }

    pub(super) fn resolved_caps(&self) -> Caps {
        match self.caps {
            FontVariantCaps::Normal if self.font.small_caps => Caps::Small,
            FontVariantCaps::Normal => Caps::Normal,
            FontVariantCaps::SmallCaps => Caps::Small,
            FontVariantCaps::AllSmallCaps => Caps::AllSmall,
            FontVariantCaps::PetiteCaps => Caps::Petite,
            FontVariantCaps::AllPetiteCaps => Caps::AllPetite,
            FontVariantCaps::Unicase => Caps::Unicase,
            FontVariantCaps::TitlingCaps => Caps::Titling,
        }
    }
}

/// Getter and setter for a word attribute; unknown words are ignored.
macro_rules! attribute {
    ($(#[$doc:meta])* $get:ident, $set:ident, $field:ident, $kind:ty) => {
        $(#[$doc])*
        pub fn $get(&self) -> &'static str {
            self.state.text.$field.name()
        }

        /// Sets the attribute; unknown words are ignored.
        pub fn $set(&mut self, word: &str) {
            if let Some(value) = <$kind>::parse(word) {
                Rc::make_mut(&mut self.state.text).$field = value;
            }
        }
    };
}

impl Context2d {
    /// `font`, in its canonical form.
    pub fn font(&self) -> String {
        self.state.text.font.to_string()
    }

    /// Sets `font`; what is no font is ignored.
    pub fn set_font(&mut self, text: &str) {
        if let Some(font) = self.parsed_fonts.get(text, |t| FontSpec::parse(t, 10.0)) {
            Rc::make_mut(&mut self.state.text).font = font;
        }
    }

    attribute!(/** `textAlign`. */ text_align, set_text_align, align, TextAlign);
    attribute!(/** `textBaseline`. */ text_baseline, set_text_baseline, baseline, TextBaseline);
    attribute!(/** `direction`. */ direction, set_direction, direction, Direction);
    attribute!(/** `fontKerning`. */ font_kerning, set_font_kerning, kerning, FontKerning);
    attribute!(/** `fontStretch`. */ font_stretch, set_font_stretch, stretch, FontStretch);
    attribute!(/** `fontVariantCaps`. */ font_variant_caps, set_font_variant_caps, caps, FontVariantCaps);
    attribute!(/** `textRendering`. */ text_rendering, set_text_rendering, rendering, TextRendering);

    /// `letterSpacing`.
    pub fn letter_spacing(&self) -> &str {
        &self.state.text.letter_spacing.text
    }

    /// Sets `letterSpacing`; what is no length is ignored.
    pub fn set_letter_spacing(&mut self, text: &str) {
        if let Some(spacing) = Spacing::parse(text) {
            Rc::make_mut(&mut self.state.text).letter_spacing = spacing;
        }
    }

    /// `wordSpacing`.
    pub fn word_spacing(&self) -> &str {
        &self.state.text.word_spacing.text
    }

    /// Sets `wordSpacing`; what is no length is ignored.
    pub fn set_word_spacing(&mut self, text: &str) {
        if let Some(spacing) = Spacing::parse(text) {
            Rc::make_mut(&mut self.state.text).word_spacing = spacing;
        }
    }

    /// `lang`.
    pub fn lang(&self) -> &str {
        &self.state.text.lang
    }

    /// Sets `lang`.
    pub fn set_lang(&mut self, text: &str) {
        if text.len() <= 64 {
            Rc::make_mut(&mut self.state.text).lang = text.into();
        }
    }
}
