//! Arithmetic: `$((…))`, `((…))`, offsets of slices.

use crate::limits::DEPTH_MAX;
use crate::{State, Var};

/// The value of an expression; `None` if only a run would show it.
pub(super) fn evaluate(text: &str, state: &mut State) -> Option<i64> {
    let mut reader = Reader { rest: text.trim(), state, depth: 0 };
    if reader.rest.is_empty() {
        return Some(0);
    }
    let value = reader.comma()?;
    reader.rest.trim_start().is_empty().then_some(value)
}

struct Reader<'a> {
    rest: &'a str,
    state: &'a mut State,
    depth: usize,
}

/// Operators of two sides, from loose to tight, and longer ones that begin like them.
const LEVELS: [&str; 10] =
    ["||", "&&", "|", "^", "&", "== !=", "<= >= < >", "<< >>", "+ -", "* / %"];
const LONGER: [&str; 7] = ["||", "&&", "<<", "<=", ">>", ">=", "**"];
/// Operators that change a variable.
const CHANGES: [&str; 10] = ["<<=", ">>=", "+=", "-=", "*=", "/=", "%=", "&=", "|=", "^="];

impl Reader<'_> {
    fn take(&mut self, sign: &str) -> bool {
        self.rest = self.rest.trim_start();
        let after = self.rest.strip_prefix(sign);
        self.rest = after.unwrap_or(self.rest);
        after.is_some()
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
        let condition = self.binary(0).filter(|_| self.depth <= DEPTH_MAX)?;
        let value = if self.take("?") {
            let then = self.choice()?;
            let other = if self.take(":") { self.choice()? } else { return None };
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
            self.rest = self.rest.trim_start();
            let is_longer = |sign: &str| {
                LONGER.iter().any(|it| {
                    it.len() > sign.len() && it.starts_with(sign) && self.rest.starts_with(it)
                })
            };
            let mut here = signs.split(' ').filter(|it| self.rest.starts_with(it));
            let Some(sign) = here.find(|it| !is_longer(it)) else { return Some(left) };
            self.take(sign);
            let right = self.binary(level + 1)?;
            left = apply(sign, left, right)?;
        }
    }

    fn power(&mut self) -> Option<i64> {
        let base = self.unary()?;
        if self.take("**") {
            return base.checked_pow(u32::try_from(self.power()?).ok()?);
        }
        Some(base)
    }

    fn unary(&mut self) -> Option<i64> {
        self.depth += 1;
        if self.depth > DEPTH_MAX || self.take("++") || self.take("--") {
            return None;
        }
        let value = if self.take("-") {
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

    /// A number, or a variable: `x`, `x++`, `x=1`, `x+=1`.
    fn leaf(&mut self) -> Option<i64> {
        self.take("$");
        let braced = self.take("{");
        let is_part = |it: char| it.is_ascii_alphanumeric() || matches!(it, '_' | '#' | '@');
        self.rest = self.rest.trim_start();
        let end = self.rest.find(|it| !is_part(it)).unwrap_or(self.rest.len());
        let (word, after) = self.rest.split_at_checked(end)?;
        self.rest = after;
        if (braced && !self.take("}")) || word.is_empty() {
            return None;
        }
        if word.starts_with(|it: char| it.is_ascii_digit()) {
            return number(word);
        }
        let text = self.state.get(word).map(|it| it.first()).unwrap_or_default();
        let value = if text.trim().is_empty() { 0 } else { number(text.trim())? };
        let set = |it: &mut Self, value: i64| it.state.set(word, Var::Text(value.to_string()));
        let step = if self.take("++") { 1 } else { -i64::from(self.take("--")) };
        if step != 0 {
            set(self, value.checked_add(step)?);
            return Some(value);
        }
        let sign = CHANGES.iter().find(|it| self.rest.starts_with(**it));
        let sets = self.rest.starts_with('=') && !self.rest.starts_with("==");
        if sign.is_none() && !sets {
            return Some(value);
        }
        self.take(sign.unwrap_or(&"="));
        let right = self.choice()?;
        let result =
            sign.map_or(Some(right), |it| apply(it.trim_end_matches('='), value, right))?;
        set(self, result);
        Some(result)
    }
}

fn apply(sign: &str, left: i64, right: i64) -> Option<i64> {
    let bits = || u32::try_from(right).ok();
    match sign {
        "+" => left.checked_add(right),
        "-" => left.checked_sub(right),
        "*" => left.checked_mul(right),
        "/" => left.checked_div(right),
        "%" => left.checked_rem(right),
        "<<" => left.checked_shl(bits()?),
        ">>" => left.checked_shr(bits()?),
        "|" => Some(left | right),
        "^" => Some(left ^ right),
        "&" => Some(left & right),
        _ => Some(i64::from(match sign {
            "||" => left != 0 || right != 0,
            "&&" => left != 0 && right != 0,
            "==" => left == right,
            "!=" => left != right,
            "<=" => left <= right,
            ">=" => left >= right,
            "<" => left < right,
            _ => left > right,
        })),
    }
}

/// `10`, `0x1f`, `017`, `2#101`.
fn number(text: &str) -> Option<i64> {
    let (sign, digits) = text.strip_prefix('-').map_or((1, text), |it| (-1, it));
    let hex = digits.strip_prefix("0x").or_else(|| digits.strip_prefix("0X"));
    let (base, digits) = match (digits.split_once('#'), hex) {
        (Some((base, digits)), _) => {
            (base.parse().ok().filter(|it| (2..=36).contains(it))?, digits)
        }
        (None, Some(digits)) => (16, digits),
        (None, None) if digits.len() > 1 && digits.starts_with('0') => (8, digits),
        (None, None) => (10, digits),
    };
    i64::from_str_radix(digits, base).ok()?.checked_mul(sign)
}
