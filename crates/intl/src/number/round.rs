//! Rounding, exactly: numbers are decimal digits here, never binary fractions.

use fixed_decimal::{RoundingIncrement, UnsignedDecimal, UnsignedRoundingMode};

use super::spec::{Mode, Rounding, RoundingKind};

impl Mode {
    /// The same for a number without its sign.
    fn unsigned(self, negative: bool) -> UnsignedRoundingMode {
        use UnsignedRoundingMode as To;
        match (self, negative) {
            (Self::Expand, _) | (Self::Ceil, false) | (Self::Floor, true) => To::Expand,
            (Self::Trunc, _) | (Self::Ceil, true) | (Self::Floor, false) => To::Trunc,
            (Self::HalfExpand, _) | (Self::HalfCeil, false) | (Self::HalfFloor, true) => To::HalfExpand,
            (Self::HalfTrunc, _) | (Self::HalfCeil, true) | (Self::HalfFloor, false) => To::HalfTrunc,
            (Self::HalfEven, _) => To::HalfEven,
        }
    }
}

impl Rounding {
    /// Rounds, and shows as many zeros as were asked for.
    pub(crate) fn apply(&self, number: &UnsignedDecimal, negative: bool) -> UnsignedDecimal {
        let mut made = match self.kind {
            RoundingKind::FractionDigits => self.by_fraction(number, negative),
            RoundingKind::SignificantDigits => self.by_significant(number, negative),
            RoundingKind::MorePrecision | RoundingKind::LessPrecision => {
                let by_significant = number.nonzero_magnitude_start() - i16::from(self.significant.1) + 1;
                let finer = by_significant <= -i16::from(self.fraction.1);
                if finer == (self.kind == RoundingKind::MorePrecision) {
                    self.by_significant(number, negative)
                } else {
                    self.by_fraction(number, negative)
                }
            }
        };
        if self.strip {
            made.trim_end_if_integer();
        }
        made.trim_start();
        made.pad_start(i16::from(self.integer));
        made
    }

    fn by_fraction(&self, number: &UnsignedDecimal, negative: bool) -> UnsignedDecimal {
        let (least, most) = (i16::from(self.fraction.0), i16::from(self.fraction.1));
        let mut made = number.clone();
        self.round_at(&mut made, -most, negative);
        made.trim_end();
        made.pad_end(-least);
        made
    }

    fn by_significant(&self, number: &UnsignedDecimal, negative: bool) -> UnsignedDecimal {
        let (least, most) = (i16::from(self.significant.0), i16::from(self.significant.1));
        let mut made = number.clone();
        if !made.is_zero() {
            self.round_at(&mut made, number.nonzero_magnitude_start() - most + 1, negative);
        }
        made.trim_end();
        made.pad_end((made.nonzero_magnitude_start() - least + 1).min(0));
        made
    }

    fn round_at(&self, number: &mut UnsignedDecimal, position: i16, negative: bool) {
        let mode = self.mode.unsigned(negative);
        let (mut increment, mut position) = (self.increment.max(1), position);
        while increment % 10 == 0 {
            increment /= 10;
            position += 1;
        }
        let increment = match increment {
            2 => RoundingIncrement::MultiplesOf2,
            5 => RoundingIncrement::MultiplesOf5,
            25 => RoundingIncrement::MultiplesOf25,
            _ => RoundingIncrement::MultiplesOf1,
        };
        number.round_with_mode_and_increment(position, mode, increment);
    }
}
