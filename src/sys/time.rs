//! Points in time: in logs and JSON as RFC 3339 in UTC, for people as their clock shows them.

use std::fmt;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use time::format_description::well_known::Rfc3339;
use time::{OffsetDateTime, PrimitiveDateTime, UtcOffset};

use super::text::quoted;

/// Milliseconds since 1970.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct UnixMillis(pub u64);

/// A duration in milliseconds.
pub fn millis(time: Duration) -> u64 {
    time.as_millis().try_into().unwrap_or(u64::MAX)
}

const SECOND: u64 = 1000;
const DAY: u64 = 86_400 * SECOND;

impl UnixMillis {
    /// The present.
    pub fn now() -> Self {
        let since = SystemTime::now().duration_since(UNIX_EPOCH);
        Self(since.map_or(0, millis))
    }

    /// Milliseconds from `earlier` to this moment; 0 if the clock was set back in between.
    pub fn since(self, earlier: Self) -> u64 {
        self.0.saturating_sub(earlier.0)
    }

    /// As it is written for people: `2026-11-21 23:01` in local time.
    pub fn local(self) -> String {
        let utc = self.utc();
        let local = offset(utc).and_then(|offset| utc.checked_to_offset(offset));
        let at = local.unwrap_or(utc);
        let zone = if local.is_some() { "" } else { " UTC" };
        format!("{} {:02}:{:02}{zone}", at.date(), at.hour(), at.minute())
    }

    fn utc(self) -> OffsetDateTime {
        let nanos = i128::from(self.0) * 1_000_000;
        // A file may contain a time beyond the last year with four digits.
        let last = PrimitiveDateTime::MAX.assume_utc();
        OffsetDateTime::from_unix_timestamp_nanos(nanos).unwrap_or(last)
    }

    /// Parses `2026-11-21T23:01:16.250Z`, the local time `2026-11-21 23:01`, a date alone, or a span
    /// such as `90s`, `15m`, `2h`, `7d` or `4w` before `now`. `None` for anything else.
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

/// What a stored time is for people; it stays as it is written if it is none.
pub fn local(written: &str) -> String {
    let moment = UnixMillis::parse(written, UnixMillis(0));
    moment.map_or_else(|| quoted(written), UnixMillis::local)
}

/// How far local time is from UTC at that moment; `None` if that cannot be known.
fn offset(at: OffsetDateTime) -> Option<UtcOffset> {
    UtcOffset::local_offset_at(at).ok()
}

fn parse_instant(written: &str) -> Option<UnixMillis> {
    let (date, time) = written.split_once(['T', ' ']).unwrap_or((written, "00:00"));
    let utc = time.strip_suffix('Z');
    let (time, is_utc) = (utc.unwrap_or(time), utc.is_some());
    let seconds = if time.matches(':').count() == 1 {
        ":00"
    } else {
        ""
    };
    let utc = OffsetDateTime::parse(&format!("{date}T{time}{seconds}Z"), &Rfc3339).ok()?;
    let behind = offset(utc).filter(|_| !is_utc).unwrap_or(UtcOffset::UTC);
    let instant = utc.checked_sub(time::Duration::seconds(behind.whole_seconds().into()))?;
    let millis = instant.unix_timestamp_nanos() / 1_000_000;
    u64::try_from(millis).ok().map(UnixMillis)
}

impl fmt::Display for UnixMillis {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let at = self.utc();
        write!(
            f,
            "{}T{:02}:{:02}:{:02}.{:03}Z",
            at.date(),
            at.hour(),
            at.minute(),
            at.second(),
            at.millisecond()
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
            assert_eq!(UnixMillis(millis).to_string(), text);
            assert_eq!(
                UnixMillis::parse(text, UnixMillis(0)),
                Some(UnixMillis(millis))
            );
        }
    }

    #[test]
    fn spans_count_back_and_nonsense_is_refused() {
        let now = UnixMillis(10 * DAY);
        assert_eq!(UnixMillis::parse("2d", now), Some(UnixMillis(8 * DAY)));
        assert_eq!(
            UnixMillis::parse("90m", now),
            Some(UnixMillis(10 * DAY - 5_400_000))
        );
        assert_eq!(
            UnixMillis::parse("1970-01-03", now),
            Some(UnixMillis(2 * DAY))
        );
        for bad in [
            "",
            "d",
            "-1d",
            "2x",
            "2026-13-01",
            "2026-1",
            "2026-02-30",
            "1969-01-01",
            "yesterday",
        ] {
            assert_eq!(UnixMillis::parse(bad, now), None, "{bad}");
        }
    }

    #[test]
    fn what_no_calendar_has_is_the_last_day() {
        assert_eq!(UnixMillis(u64::MAX).to_string(), "9999-12-31T23:59:59.999Z");
    }

    proptest! {
        #[test]
        fn what_is_written_is_read(millis in 0u64..200_000_000_000_000) {
            let text = UnixMillis(millis).to_string();
            prop_assert_eq!(UnixMillis::parse(&text, UnixMillis(0)), Some(UnixMillis(millis)));
        }
    }
}
