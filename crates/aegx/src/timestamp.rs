//! Times as AEGX writes them: UTC, whole seconds, `YYYY-MM-DDTHH:MM:SSZ`.

/// Folds an RFC 3339 time into UTC and cuts the fraction. `None` if it is no such time.
///
/// Accepts what upstream's parser accepts: a lower-case `t` or `z`, a space for `T`, `-00:00`,
/// U+2212 as the sign of the offset, and second 60 (kept as `:60`). A year beyond four digits
/// (possible only by folding an offset) is printed with its sign.
#[must_use]
pub fn normalize(text: &str) -> Option<String> {
    let mut rest = text.as_bytes();
    let year = i64::from(number(&mut rest, 4)?);
    literal(&mut rest, b"-")?;
    let month = number(&mut rest, 2)?;
    literal(&mut rest, b"-")?;
    let day = number(&mut rest, 2)?;
    literal(&mut rest, b"Tt ")?;
    let hour = number(&mut rest, 2)?;
    literal(&mut rest, b":")?;
    let minute = number(&mut rest, 2)?;
    literal(&mut rest, b":")?;
    let second = number(&mut rest, 2)?;
    fraction(&mut rest)?;
    let offset_seconds = offset(&mut rest)?;
    if !rest.is_empty() || hour > 23 || minute > 59 || second > 60 || !is_date(year, month, day) {
        return None;
    }

    // A leap second survives folding: offsets are whole minutes.
    let leap = i64::from(second == 60);
    let of_day = i64::from(hour) * 3600 + i64::from(minute) * 60 + i64::from(second) - leap;
    let at = days_from_civil(year, month, day) * DAY_SECONDS + of_day - offset_seconds;
    Some(print(at, leap))
}

/// Is this exactly what [`normalize`] would print, and a day that exists?
#[must_use]
pub fn is_normal(text: &str) -> bool {
    let field =
        |at: usize, digits| text.as_bytes().get(at..).and_then(|mut it| number(&mut it, digits));
    let (Some(year), Some(month), Some(day)) = (field(0, 4), field(5, 2), field(8, 2)) else {
        return false;
    };
    let (Some(hour), Some(minute), Some(second)) = (field(11, 2), field(14, 2), field(17, 2))
    else {
        return false;
    };
    let is_time = hour <= 23 && minute <= 59 && second <= 60;
    has_shape(text) && is_time && is_date(i64::from(year), month, day)
}

/// A normal time as its bytes.
pub type Ts = [u8; 20];

/// The bytes of a time that is normal.
#[must_use]
pub fn normal_bytes(text: &str) -> Option<Ts> {
    text.as_bytes().try_into().ok().filter(|_| is_normal(text))
}

/// The pattern that upstream's schema asks for, which takes any digits for a date.
#[must_use]
pub fn has_shape(text: &str) -> bool {
    const SHAPE: &[u8; 20] = b"dddd-dd-ddTdd:dd:ddZ";
    text.len() == SHAPE.len()
        && text
            .bytes()
            .zip(SHAPE)
            .all(|(byte, &want)| if want == b'd' { byte.is_ascii_digit() } else { byte == want })
}

/// Prints seconds since 1970-01-01T00:00:00Z.
#[must_use]
pub fn from_unix(seconds: i64) -> String {
    print(seconds, 0)
}

/// Seconds since 1970-01-01T00:00:00Z of a time that [`normalize`] understands.
#[must_use]
pub fn to_unix(text: &str) -> Option<i64> {
    let text = normalize(text)?;
    let mut rest = text.as_bytes();
    let year = i64::from(number(&mut rest, 4)?);
    let mut next = || -> Option<u32> {
        rest = rest.get(1..)?;
        number(&mut rest, 2)
    };
    let (month, day, hour, minute, second) = (next()?, next()?, next()?, next()?, next()?);
    let of_day = i64::from(hour) * 3600 + i64::from(minute) * 60 + i64::from(second);
    Some(days_from_civil(year, month, day) * DAY_SECONDS + of_day)
}

const DAY_SECONDS: i64 = 86_400;

fn print(unix_seconds: i64, leap: i64) -> String {
    let (year, month, day) = civil_from_days(unix_seconds.div_euclid(DAY_SECONDS));
    let of_day = unix_seconds.rem_euclid(DAY_SECONDS);
    let (hour, minute, second) = (of_day / 3600, of_day / 60 % 60, of_day % 60 + leap);
    // By hand: every record of a busy journal comes by here.
    let mut text = String::with_capacity(24);
    match year {
        0..=9999 => push_digits(&mut text, year, 1000),
        _ => text.push_str(&format!("{year:+05}")),
    }
    for (mark, number) in [('-', month), ('-', day), ('T', hour), (':', minute), (':', second)] {
        text.push(mark);
        push_digits(&mut text, number, 10);
    }
    text.push('Z');
    text
}

/// Appends as many decimal digits as `unit` has.
fn push_digits(text: &mut String, number: i64, mut unit: i64) {
    while unit > 0 {
        let digit = u32::try_from(number / unit % 10).unwrap_or(0);
        text.push(char::from_digit(digit, 10).unwrap_or('0'));
        unit /= 10;
    }
}

fn number(rest: &mut &[u8], digits: usize) -> Option<u32> {
    let (head, tail) = rest.split_at_checked(digits)?;
    *rest = tail;
    head.iter()
        .try_fold(0, |sum, byte| byte.is_ascii_digit().then(|| sum * 10 + u32::from(byte - b'0')))
}

fn literal(rest: &mut &[u8], one_of: &[u8]) -> Option<u8> {
    let (&head, tail) = rest.split_first()?;
    *rest = tail;
    one_of.contains(&head).then_some(head)
}

fn fraction(rest: &mut &[u8]) -> Option<()> {
    let Some(digits) = rest.strip_prefix(b".") else { return Some(()) };
    let count = digits.iter().take_while(|byte| byte.is_ascii_digit()).count();
    *rest = digits.get(count..)?;
    (count > 0).then_some(())
}

fn offset(rest: &mut &[u8]) -> Option<i64> {
    const MINUS_SIGN: &[u8] = "\u{2212}".as_bytes();
    let sign = match rest.strip_prefix(MINUS_SIGN) {
        Some(tail) => {
            *rest = tail;
            b'-'
        }
        None => literal(rest, b"Zz+-")?,
    };
    if sign.eq_ignore_ascii_case(&b'Z') {
        return Some(0);
    }
    let hours = number(rest, 2)?;
    literal(rest, b":")?;
    let minutes = number(rest, 2)?;
    if hours > 23 || minutes > 59 {
        return None;
    }
    let seconds = i64::from(hours * 3600 + minutes * 60);
    Some(if sign == b'-' { -seconds } else { seconds })
}

fn is_date(year: i64, month: u32, day: u32) -> bool {
    let leap_year = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    let last = match month {
        1 | 3 | 5 | 7 | 8 | 10 | 12 => 31,
        4 | 6 | 9 | 11 => 30,
        2 if leap_year => 29,
        2 => 28,
        _ => return false,
    };
    (1..=last).contains(&day)
}

// Both directions count days in 400-year eras that begin on 1 March, so that the leap day is the
// last day of its year.
const ERA_DAYS: i64 = 146_097;
const EPOCH_DAYS: i64 = 719_468;

fn days_from_civil(year: i64, month: u32, day: u32) -> i64 {
    let year = year - i64::from(month <= 2);
    let era = year.div_euclid(400);
    let year_of_era = year.rem_euclid(400);
    let month_from_march = i64::from((month + 9) % 12);
    let day_of_year = (153 * month_from_march + 2) / 5 + i64::from(day) - 1;
    let day_of_era = year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year;
    era * ERA_DAYS + day_of_era - EPOCH_DAYS
}

fn civil_from_days(days: i64) -> (i64, i64, i64) {
    let days = days + EPOCH_DAYS;
    let era = days.div_euclid(ERA_DAYS);
    let day_of_era = days.rem_euclid(ERA_DAYS);
    let year_of_era =
        (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month_from_march = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month_from_march + 2) / 5 + 1;
    let month = (month_from_march + 2) % 12 + 1;
    (year_of_era + era * 400 + i64::from(month <= 2), month, day)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_day_of_eight_centuries_round_trips() {
        let first = days_from_civil(1600, 1, 1);
        for day in first..first + 2 * ERA_DAYS {
            let text = from_unix(day * DAY_SECONDS + 86_399);
            assert_eq!(to_unix(&text), Some(day * DAY_SECONDS + 86_399), "{text}");
            assert!(is_normal(&text), "{text}");
        }
    }

    #[test]
    fn folding_an_offset_may_leave_the_four_digit_years() {
        let fold = |text| normalize(text).unwrap();
        assert_eq!(fold("9999-12-31T23:59:59-01:00"), "+10000-01-01T00:59:59Z");
        assert_eq!(fold("0000-01-01T00:00:00+01:00"), "-0001-12-31T23:00:00Z");
        assert_eq!(fold("2026-02-15 00:00:00.9\u{2212}05:30"), "2026-02-15T05:30:00Z");
    }

    #[test]
    fn a_shape_is_not_yet_a_date() {
        assert!(has_shape("2026-13-45T99:99:99Z"));
        assert!(!is_normal("2026-13-45T99:99:99Z"));
        assert!(!has_shape("2026-01-01T00:00:00Z\n"));
    }
}
