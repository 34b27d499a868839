//! Arithmetic: `$((…))`, `((…))`, offsets of slices.

use crate::limits::DEPTH_MAX;
use crate::{State, Var};

/// The value of an expression; `None` if only a run would show it.
pub(super) fn evaluate(text: &str, state: &mut State) -> Option<i64> {
    let mut reader = Reader { text: text.trim().chars().collect(), at: 0, state, depth: 0 };
    if reader.text.is_empty() {
        return Some(0);
    }
    let value = reader.comma()?;
    reader.blanks();
    (reader.at == reader.text.len()).then_some(value)
}

struct Reader<'a> {
    text: Vec<char>,
    at: usize,
    state: &'a mut State,
    depth: usize,
}

/// Operators of two sides, from loose to tight.
const LEVELS: [&[&str]; 10] = [
    &["||"],
    &["&&"],
    &["|"],
    &["^"],
    &["&"],
    &["==", "!="],
    &["<=", ">=", "<", ">"],
    &["<<", ">>"],
    &["+", "-"],
    &["*", "/", "%"],
];

impl Reader<'_> {
    fn blanks(&mut self) {
        while self.text.get(self.at).is_some_and(|it| it.is_whitespace()) {
            self.at += 1;
        }
    }

    fn take(&mut self, sign: &str) -> bool {
        self.blanks();
        let found = sign.chars().enumerate().all(|(i, it)| self.text.get(self.at + i) == Some(&it));
        if found {
            self.at += sign.len();
        }
        found
    }

    fn sees(&self, sign: &str) -> bool {
        sign.chars().enumerate().all(|(i, it)| self.text.get(self.at + i) == Some(&it))
    }

    fn comma(&mut self) -> Option<i64> {
        let mut value = self.choice()?;
        while self.take(",") {
            value = self.choice()?;
        }
        Some(value)
    }

    fn choice(&mut self) -> Option<i64> {
        self.depth += 1;
        if self.depth > DEPTH_MAX {
            return None;
        }
        let condition = self.binary(0)?;
        let value = if self.take("?") {
            let then = self.choice()?;
            if !self.take(":") {
                return None;
            }
            let other = self.choice()?;
            if condition != 0 { then } else { other }
        } else {
            condition
        };
        self.depth -= 1;
        Some(value)
    }

    fn binary(&mut self, level: usize) -> Option<i64> {
        let Some(signs) = LEVELS.get(level) else { return self.power() };
        let mut left = self.binary(level + 1)?;
        loop {
            self.blanks();
            let here = signs.iter().find(|it| self.sees(it) && !self.is_longer(it));
            let Some(sign) = here else { return Some(left) };
            self.at += sign.len();
            let right = self.binary(level + 1)?;
            left = apply(sign, left, right)?;
        }
    }

    /// `<` of `<<`, `&` of `&&`, `+` of `+=`.
    fn is_longer(&self, sign: &str) -> bool {
        let longer: &[&str] = match sign {
            "|" => &["||"],
            "&" => &["&&"],
            "<" => &["<<", "<="],
            ">" => &[">>", ">="],
            "*" => &["**"],
            _ => &[],
        };
        longer.iter().any(|it| self.sees(it))
    }

    fn power(&mut self) -> Option<i64> {
        let base = self.unary()?;
        if self.take("**") {
            let exponent = u32::try_from(self.power()?).ok()?;
            return base.checked_pow(exponent);
        }
        Some(base)
    }

    fn unary(&mut self) -> Option<i64> {
        self.depth += 1;
        if self.depth > DEPTH_MAX {
            return None;
        }
        let value = if self.take("++") || self.take("--") {
            return None;
        } else if self.take("-") {
            self.unary()?.checked_neg()
        } else if self.take("+") {
            self.unary()
        } else if self.take("!") {
            Some(i64::from(self.unary()? == 0))
        } else if self.take("~") {
            Some(!self.unary()?)
        } else if self.take("(") {
            let value = self.comma()?;
            self.take(")").then_some(value)
        } else {
            self.leaf()
        };
        self.depth -= 1;
        value
    }

    fn leaf(&mut self) -> Option<i64> {
        self.blanks();
        self.take("$");
        let braced = self.take("{");
        let is_part = |it: &char| it.is_ascii_alphanumeric() || matches!(*it, '_' | '#' | '@');
        let from = self.at;
        while self.text.get(self.at).is_some_and(is_part) {
            self.at += 1;
        }
        let word: String = self.text.get(from..self.at)?.iter().collect();
        if braced && !self.take("}") {
            return None;
        }
        if word.starts_with(|it: char| it.is_ascii_digit()) {
            return number(&word);
        }
        if word.is_empty() {
            return None;
        }
        let value = match self.state.get(&word).map(|it| it.first()) {
            None => 0,
            Some(text) if text.trim().is_empty() => 0,
            Some(text) => number(text.trim())?,
        };
        self.assigned(&word, value)
    }

    /// `x++`, `x=1`, `x+=1`.
    fn assigned(&mut self, name: &str, value: i64) -> Option<i64> {
        self.blanks();
        if self.take("++") || self.sees("--") && self.take("--") {
            let step = if self.text.get(self.at - 1) == Some(&'+') { 1 } else { -1 };
            self.set(name, value.checked_add(step)?);
            return Some(value);
        }
        let signs = ["+=", "-=", "*=", "/=", "%=", "<<=", ">>=", "&=", "|=", "^="];
        if let Some(sign) = signs.iter().find(|it| self.sees(it)) {
            self.at += sign.len();
            let right = self.choice()?;
            let result = apply(sign.trim_end_matches('='), value, right)?;
            self.set(name, result);
            return Some(result);
        }
        if self.sees("=") && !self.sees("==") {
            self.at += 1;
            let result = self.choice()?;
            self.set(name, result);
            return Some(result);
        }
        Some(value)
    }

    fn set(&mut self, name: &str, value: i64) {
        self.state.set(name, Var::Text(value.to_string()));
    }
}

fn apply(sign: &str, left: i64, right: i64) -> Option<i64> {
    let bits = || u32::try_from(right).ok();
    match sign {
        "||" => Some(i64::from(left != 0 || right != 0)),
        "&&" => Some(i64::from(left != 0 && right != 0)),
        "|" => Some(left | right),
        "^" => Some(left ^ right),
        "&" => Some(left & right),
        "==" => Some(i64::from(left == right)),
        "!=" => Some(i64::from(left != right)),
        "<=" => Some(i64::from(left <= right)),
        ">=" => Some(i64::from(left >= right)),
        "<" => Some(i64::from(left < right)),
        ">" => Some(i64::from(left > right)),
        "<<" => left.checked_shl(bits()?),
        ">>" => left.checked_shr(bits()?),
        "+" => left.checked_add(right),
        "-" => left.checked_sub(right),
        "*" => left.checked_mul(right),
        "/" => left.checked_div(right),
        "%" => left.checked_rem(right),
        _ => None,
    }
}

/// `10`, `0x1f`, `017`, `2#101`.
fn number(text: &str) -> Option<i64> {
    let (negative, digits) = text.strip_prefix('-').map_or((false, text), |it| (true, it));
    let value = if let Some((base, digits)) = digits.split_once('#') {
        let base: u32 = base.parse().ok().filter(|it| (2..=36).contains(it))?;
        i64::from_str_radix(digits, base).ok()
    } else if let Some(digits) = digits.strip_prefix("0x").or_else(|| digits.strip_prefix("0X")) {
        i64::from_str_radix(digits, 16).ok()
    } else if digits.len() > 1 && digits.starts_with('0') {
        i64::from_str_radix(digits, 8).ok()
    } else {
        digits.parse().ok()
    }?;
    if negative { value.checked_neg() } else { Some(value) }
}
