//! Parses frontmatter that needs no YAML parser: one line of plain text for each key, as in two
//! skills of five (docs/spec/skills.md#yaml). The YAML parser is many times slower; it gets
//! whatever YAML might read differently.

use serde_json::Value;

use super::pairs::Pairs;

/// The pairs of the mapping, if all of `yaml` is plain.
pub fn read(yaml: &str) -> Option<Pairs> {
    let mut pairs = Pairs::new();
    for line in yaml.lines() {
        let (key, value) = line.split_once(": ")?;
        let value = value.trim_matches(' ');
        if !is_key(key) || !is_text(value) {
            return None;
        }
        pairs.push((key.to_owned(), Value::String(value.to_owned())));
    }
    (!pairs.is_empty()).then_some(pairs)
}

fn is_key(key: &str) -> bool {
    let is_letter = |byte: u8| byte.is_ascii_alphanumeric() || b"-_".contains(&byte);
    // YAML requires a question mark before longer keys.
    key.len() < 100 && key.bytes().all(is_letter) && is_text(key)
}

/// Whether YAML reads all of `value` as a string.
fn is_text(value: &str) -> bool {
    let mut before = ' ';
    for c in value.chars() {
        // These begin a comment or a mapping, or end a line.
        if matches!((before, c), (' ', '#') | (':', ' ')) || !is_plain(c) {
            return false;
        }
        before = c;
    }
    let other = ["true", "false", "null", "yes", "no", "on", "off", "y", "n"];
    value.starts_with(|c: char| c.is_ascii_alphabetic())
        && before != ':'
        && !other.iter().any(|word| value.eq_ignore_ascii_case(word))
}

fn is_plain(c: char) -> bool {
    matches!(c, ' '..='~' | '\u{a0}'..='\u{2027}' | '\u{202a}'..='\u{d7ff}' | '\u{e000}'..='\u{fdcf}'
        | '\u{10000}'..='\u{1ffff}')
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn by_yaml(yaml: &str) -> Option<Pairs> {
        crate::skill::pairs::parse(yaml)
    }

    #[test]
    fn plain_lines_are_read() {
        let yaml = "name: pdf\ndescription:  Fills forms (e.g. a-b), {x}, [y]: none # \r\n";
        assert_eq!(read(yaml), None);
        let yaml = "name: pdf\r\ndescription:  Fills “forms”; a:b, it's {x} [y]#1 \nallowed-tools: Read Bash(git:*)";
        let values = read(yaml).unwrap();
        assert_eq!(values[1].1, "Fills “forms”; a:b, it's {x} [y]#1");
        assert_eq!(Some(values), by_yaml(yaml));
    }

    fn piece() -> impl Strategy<Value = String> {
        let odd = [
            ": ", ":", " #", "#", "-", "- ", "? ", "|", ">", "'", "\"", "&a", "*a", "!t", "%", "@",
            "`", "[", "]", "{", "}", ",", "\t", "\r", "\n", "\n  ", "\u{85}", "\u{2028}",
            "\u{feff}", "\0", "\u{7f}", "---", "...", "<<", "=", "~", ".inf", "0x1", "1e3", "1.",
            "é", "技", "😀",
        ];
        let words = ["true", "False", "NULL", "inf", "nan", "e1", "pdf", "name"];
        prop_oneof![
            prop::sample::select(odd.to_vec()).prop_map(str::to_owned),
            prop::sample::select(words.to_vec()).prop_map(str::to_owned),
            "[a-zA-Z0-9]{1,3}",
            Just(" ".to_owned()),
            any::<char>().prop_map(String::from),
        ]
    }

    fn text() -> impl Strategy<Value = String> {
        prop::collection::vec(piece(), 0..6).prop_map(|pieces| pieces.concat())
    }

    fn line() -> impl Strategy<Value = String> {
        let key = prop_oneof![Just("name".to_owned()), "[a-z][a-z-]{0,5}", text()];
        (key, text()).prop_map(|(key, value)| format!("{key}: {value}"))
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 4096, ..ProptestConfig::default() })]
        #[test]
        fn what_is_read_is_what_yaml_says(lines in prop::collection::vec(line(), 1..4)) {
            let yaml = lines.join("\n");
            if let Some(values) = read(&yaml) {
                prop_assert_eq!(Some(values), by_yaml(&yaml), "{:?}", yaml);
            }
        }
    }
}
