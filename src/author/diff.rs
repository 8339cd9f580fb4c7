//! The difference of two short texts as a unified diff.

use std::fmt::Write as _;

const CONTEXT: usize = 3;
/// Maximum lines of either text, without the common start and end, that are compared
/// one by one; a longer section is shown as replaced whole.
const COMPARED: usize = 2_000;

#[derive(Clone, Copy, PartialEq, Eq)]
enum Side {
    Both,
    Old,
    New,
}

/// The difference, empty if there is none. Differing line ends are shown as `␍`.
pub fn unified(path: &str, old: &str, new: &str) -> String {
    if old == new {
        return String::new();
    }
    let (old, new): (Vec<&str>, Vec<&str>) = (old.split('\n').collect(), new.split('\n').collect());
    let lines = aligned(&old, &new);
    let mut text = format!("--- {path}\n+++ {path}\n");
    let changed = |at: usize| lines[at].0 != Side::Both;
    let mut at = 0;
    while let Some(first) = (at..lines.len()).find(|at| changed(*at)) {
        let from = first.saturating_sub(CONTEXT).max(at);
        let mut last = first;
        while let Some(next) =
            (last + 1..lines.len().min(last + 2 * CONTEXT + 2)).find(|at| changed(*at))
        {
            last = next;
        }
        let to = (last + CONTEXT + 1).min(lines.len());
        let count = |side: Side, range: &[(Side, &str)]| {
            range.iter().filter(|(its, _)| *its != side).count()
        };
        let (before, hunk) = (&lines[..from], &lines[from..to]);
        let _ = writeln!(
            text,
            "@@ -{},{} +{},{} @@",
            count(Side::New, before) + 1,
            count(Side::New, hunk),
            count(Side::Old, before) + 1,
            count(Side::Old, hunk)
        );
        for (side, line) in hunk {
            let mark = match side {
                Side::Both => ' ',
                Side::Old => '-',
                Side::New => '+',
            };
            let _ = writeln!(text, "{mark}{}", line.replace('\r', "␍"));
        }
        at = to;
    }
    text
}

/// The lines of both texts merged by their longest common subsequence.
fn aligned<'a>(old: &[&'a str], new: &[&'a str]) -> Vec<(Side, &'a str)> {
    let start = old.iter().zip(new).take_while(|(a, b)| a == b).count();
    let most = old.len().min(new.len()) - start;
    let end = old
        .iter()
        .rev()
        .zip(new.iter().rev())
        .take(most)
        .take_while(|(a, b)| a == b)
        .count();
    let (a, b) = (&old[start..old.len() - end], &new[start..new.len() - end]);
    let mut lines: Vec<(Side, &str)> = old[..start]
        .iter()
        .map(|line| (Side::Both, *line))
        .collect();
    if a.len() > COMPARED || b.len() > COMPARED {
        lines.extend(a.iter().map(|line| (Side::Old, *line)));
        lines.extend(b.iter().map(|line| (Side::New, *line)));
    } else {
        middle(a, b, &mut lines);
    }
    lines.extend(
        old[old.len() - end..]
            .iter()
            .map(|line| (Side::Both, *line)),
    );
    lines
}

fn middle<'a>(a: &[&'a str], b: &[&'a str], lines: &mut Vec<(Side, &'a str)>) {
    let width = b.len() + 1;
    // For each pair of positions, the number of common lines from there on.
    let mut common = vec![0_u32; (a.len() + 1) * width];
    for i in (0..a.len()).rev() {
        for j in (0..b.len()).rev() {
            common[i * width + j] = if a[i] == b[j] {
                common[(i + 1) * width + j + 1] + 1
            } else {
                common[(i + 1) * width + j].max(common[i * width + j + 1])
            };
        }
    }
    let (mut i, mut j) = (0, 0);
    while i < a.len() || j < b.len() {
        if i < a.len() && j < b.len() && a[i] == b[j] {
            lines.push((Side::Both, a[i]));
            (i, j) = (i + 1, j + 1);
        } else if j == b.len()
            || i < a.len() && common[(i + 1) * width + j] >= common[i * width + j + 1]
        {
            lines.push((Side::Old, a[i]));
            i += 1;
        } else {
            lines.push((Side::New, b[j]));
            j += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn changes_are_shown_in_their_surroundings() {
        let old = "1\n2\n3\n4\n5\n6\n7\n8\n9\n10\n11\n12\n";
        let new = "1\ntwo\n3\n4\n5\n6\n7\n8\n9\n10\n12\n";
        assert_eq!(
            unified("f", old, new),
            "--- f\n+++ f\n@@ -1,5 +1,5 @@\n 1\n-2\n+two\n 3\n 4\n 5\n\
             @@ -8,6 +8,5 @@\n 8\n 9\n 10\n-11\n 12\n \n"
        );
        assert_eq!(unified("f", old, old), "");
        assert!(unified("f", "a\r\nb\n", "a\nb\n").contains("-a␍\n+a\n"));
    }
}
