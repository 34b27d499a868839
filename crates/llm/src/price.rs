//! What an answer costs.

use crate::answer::Usage;

/// Tokens that a price is for.
const TOKENS_PER_PRICE: u128 = 1_000_000;

/// What a million tokens cost, in micro-dollars.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Price {
    /// Read afresh.
    pub input: u64,
    /// Written.
    pub output: u64,
    /// Found in the cache.
    pub cache_read: u64,
    /// Put into the cache.
    pub cache_write: u64,
}

impl Price {
    /// Returns what `usage` costs in micro-dollars, rounded up.
    #[must_use]
    pub fn cost(&self, usage: &Usage) -> u64 {
        let part = |tokens: u64, price: u64| u128::from(tokens).saturating_mul(u128::from(price));
        let parts = [
            part(usage.input_tokens, self.input),
            part(usage.output_tokens, self.output),
            part(usage.cache_read_tokens, self.cache_read),
            part(usage.cache_creation_tokens, self.cache_write),
        ];
        let all = parts.into_iter().fold(0, u128::saturating_add).div_ceil(TOKENS_PER_PRICE);
        u64::try_from(all).unwrap_or(u64::MAX)
    }

    /// Returns how many tokens of an answer so many micro-dollars are enough for.
    #[must_use]
    pub fn answer_for(&self, micro_dollars: u64) -> u64 {
        let tokens = u128::from(micro_dollars).saturating_mul(TOKENS_PER_PRICE);
        let enough = tokens.checked_div(u128::from(self.output)).unwrap_or(u128::MAX);
        u64::try_from(enough).unwrap_or(u64::MAX)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_costs_no_more_than_what_it_is_for() {
        let price = Price { input: 3_000_000, output: 15_000_000, cache_read: 0, cache_write: 0 };
        for left in [0, 14, 15, 16, 1_000_000] {
            let output_tokens = price.answer_for(left);
            assert!(price.cost(&Usage { output_tokens, ..Usage::default() }) <= left, "{left}");
        }
        assert_eq!(price.answer_for(15), 1);
        assert_eq!(Price { output: 0, ..price }.answer_for(0), u64::MAX);
    }

    #[test]
    fn a_cost_is_exact_rounded_up_and_never_wraps() {
        let price = Price {
            input: 3_000_000,
            output: 15_000_000,
            cache_read: 300_000,
            cache_write: 3_750_000,
        };
        let usage = Usage {
            input_tokens: 1000,
            output_tokens: 100,
            cache_read_tokens: 10_000,
            cache_creation_tokens: 1,
            estimated: false,
        };
        // 3000 + 1500 + 3000 + 3.75
        assert_eq!(price.cost(&usage), 7504);
        assert_eq!(price.cost(&Usage::default()), 0);
        let all = Usage { input_tokens: u64::MAX, output_tokens: u64::MAX, ..usage };
        let dear = Price { input: u64::MAX, output: u64::MAX, ..price };
        assert_eq!(dear.cost(&all), u64::MAX);
    }
}
