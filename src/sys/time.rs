//! Points in time as people and logs write them: UTC, RFC 3339. No time zones; the only calendar is
//! days since 1970.

use std::fmt;
use std::time::{SystemTime, UNIX_EPOCH};

/// Milliseconds since 1970.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Moment(pub u64);

const SECOND: u64 = 1000;
const DAY: u64 = 86_400 * SECOND;

impl Moment {
    /// The present.
    pub fn now() -> Self {
        let since = SystemTime::now().duration_since(UNIX_EPOCH);
        Self(since.map_or(0, |since| {
            u64::try_from(since.as_millis()).unwrap_or(u64::MAX)
        }))
    }

    /// Milliseconds from `earlier` to this moment; 0 if the clock was set back.
    pub fn since(self, earlier: Self) -> u64 {
        self.0.saturating_sub(earlier.0)
    }

    /// Parses `2026-11-21T23:01:16.250Z`, a date alone, or a span such as `90s`, `15m`, `2h`, `7d`
    /// or `4w` before `now`. `None` for anything else.
    pub fn parse(written: &str, now: Self) -> Option<Self> {
        let (last, unit) = written.char_indices().next_back()?;
        let span = match unit {
            's' => SECOND,
            'm' => 60 * SECOND,
            'h' => 3600 * SECOND,
            'd' => DAY,
            'w' => 7 * DAY,
            _ => return parse_instant(written),
        };
        let count: u64 = written[..last].parse().ok()?;
        Some(Self(now.0.saturating_sub(count.checked_mul(span)?)))
    }
}

fn parse_instant(written: &str) -> Option<Moment> {
    let (date, time) = written
        .split_once(['T', ' '])
        .unwrap_or((written, "00:00:00"));
    let [year, month, day] = numbers(date, '-')?;
    let (time, fraction) = time
        .trim_end_matches('Z')
        .split_once('.')
        .map_or((time.trim_end_matches('Z'), ""), |parts| parts);
    let [hour, minute, second] = numbers(time, ':')?;
    let valid = (1970..=9999).contains(&year)
        && (1..=12).contains(&month)
        && (1..=31).contains(&day)
        && hour < 24
        && minute < 60
        && second < 61;
    let millis: u64 = format!("{fraction:0<3}").get(..3)?.parse().ok()?;
    valid.then(|| {
        let seconds = hour * 3600 + minute * 60 + second;
        Moment(days(year, month, day).unsigned_abs() * DAY + seconds * SECOND + millis)
    })
}

fn numbers(text: &str, separator: char) -> Option<[u64; 3]> {
    let parsed: Option<Vec<u64>> = text.split(separator).map(|n| n.parse().ok()).collect();
    parsed?.try_into().ok()
}

/// Days since 1970 of a Gregorian date. Years are counted from March, so that the leap day is a
/// year's last.
fn days(year: u64, month: u64, day: u64) -> i64 {
    let year = if month <= 2 { year - 1 } else { year };
    let in_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    let since_zero = 365 * year + year / 4 - year / 100 + year / 400 + in_year;
    since_zero.cast_signed() - 719_468
}

impl fmt::Display for Moment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let day = (self.0 / DAY).cast_signed();
        // Estimated without leap days, so never too early; the loop finds the March in which the
        // year begins.
        let mut year = 1970 + self.0 / DAY / 365;
        while days(year, 3, 1) > day {
            year -= 1;
        }
        let in_year = (day - days(year, 3, 1)).unsigned_abs();
        let month = (5 * in_year + 2) / 153;
        let date = in_year - (153 * month + 2) / 5 + 1;
        let (year, month) = if month < 10 {
            (year, month + 3)
        } else {
            (year + 1, month - 9)
        };
        let (seconds, millis) = (self.0 % DAY / SECOND, self.0 % SECOND);
        let (hour, minute, second) = (seconds / 3600, seconds / 60 % 60, seconds % 60);
        write!(
            f,
            "{year:04}-{month:02}-{date:02}T{hour:02}:{minute:02}:{second:02}.{millis:03}Z"
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn known_moments_read_and_write() {
        for (millis, text) in [
            (951_782_400_000, "2000-02-29T00:00:00.000Z"),
            (1_795_302_076_250, "2026-11-21T23:01:16.250Z"),
            (4_107_542_399_999, "2100-02-28T23:59:59.999Z"),
            (4_107_542_400_000, "2100-03-01T00:00:00.000Z"),
            (0, "1970-01-01T00:00:00.000Z"),
        ] {
            assert_eq!(Moment(millis).to_string(), text);
            assert_eq!(Moment::parse(text, Moment(0)), Some(Moment(millis)));
        }
    }

    #[test]
    fn spans_count_back_and_nonsense_is_refused() {
        let now = Moment(10 * DAY);
        assert_eq!(Moment::parse("2d", now), Some(Moment(8 * DAY)));
        assert_eq!(
            Moment::parse("90m", now),
            Some(Moment(10 * DAY - 5_400_000))
        );
        assert_eq!(Moment::parse("1970-01-03", now), Some(Moment(2 * DAY)));
        for bad in [
            "",
            "d",
            "-1d",
            "2x",
            "2026-13-01",
            "2026-1",
            "1969-01-01",
            "yesterday",
        ] {
            assert_eq!(Moment::parse(bad, now), None, "{bad}");
        }
    }

    proptest! {
        #[test]
        fn what_is_written_is_read(millis in 0u64..200_000_000_000_000) {
            let text = Moment(millis).to_string();
            prop_assert_eq!(Moment::parse(&text, Moment(0)), Some(Moment(millis)));
        }
    }
}
