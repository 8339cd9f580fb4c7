//! Changes to the text of a file of signers. Comments, order and spelling of what stays are kept.

use super::Listed;

/// The text with a line at its end.
pub fn with_line(text: &str, line: &str) -> String {
    let between = if text.is_empty() || text.ends_with('\n') {
        ""
    } else {
        "\n"
    };
    format!("{text}{between}{line}\n")
}

/// The text without these of its lines; if only a principal is meant, of a line that has others only
/// without this.
pub fn without(text: &str, lines: &[&Listed], principal: Option<&str>) -> String {
    let mut kept = String::new();
    for (at, line) in text.split_inclusive('\n').enumerate() {
        let Some(listed) = lines.iter().find(|listed| listed.line == at + 1) else {
            kept.push_str(line);
            continue;
        };
        let others = listed.principals.split(',');
        let others: Vec<&str> = others.filter(|one| Some(*one) != principal).collect();
        if principal.is_some() && !others.is_empty() {
            kept.push_str(&line.replacen(&listed.principals, &others.join(","), 1));
        }
    }
    kept
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::signing::Signers;

    const KEY: &str =
        "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIJr7IjL5a48XomjrHMZSICwfNNBUDqvzWMytztz8oorr";

    #[test]
    fn what_stays_is_kept_as_it_was_written() {
        let text = format!("# us\n\na,b  {KEY} x\r\n# c\n\"c\" {KEY}");
        let signers = Signers::parse(&text).unwrap();
        let all: Vec<&Listed> = signers.listed.iter().collect();
        assert_eq!(without(&text, &all, None), "# us\n\n# c\n");
        let of_a = without(&text, &all[..1], Some("a"));
        assert_eq!(of_a, text.replace("a,b", "b"));
        let of_c = without(&text, &all[1..], Some("c"));
        assert_eq!(of_c, format!("# us\n\na,b  {KEY} x\r\n# c\n"));
        assert_eq!(with_line(&text, "d"), format!("{text}\nd\n"));
        assert_eq!(with_line("", "d"), "d\n");
    }
}
