//! What a written licence means to other programs: an id of SPDX's list, an expression of such ids,
//! or a text. Nothing is guessed: `Apache 2.0` is a text. Pure.

/// The ids of SPDX's list 3.28.0, then, in the second paragraph, its exceptions. They are those that
/// `CycloneDX`'s schema knows (tests/schemas).
const LIST: &str = include_str!("licenses.txt");

/// A licence.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Meaning {
    /// An id, as the list writes it.
    Id(&'static str),
    /// An expression of ids (SPDX 2.3, annex D), as the list writes them.
    Expression(String),
    /// Anything else.
    Text(String),
}

impl Meaning {
    /// The meaning of a licence as its author wrote it, on one line.
    pub fn of(written: &str) -> Self {
        let written = written.trim();
        let id = find(listed().0, written);
        id.map(Self::Id)
            .or_else(|| expression(written).map(Self::Expression))
            .unwrap_or_else(|| Self::Text(written.to_owned()))
    }
}

fn listed() -> (&'static str, &'static str) {
    LIST.split_once("\n\n").unwrap_or((LIST, ""))
}

/// The id in `list`; ids are the same in any case.
fn find(list: &'static str, word: &str) -> Option<&'static str> {
    let mut ids = list.split_whitespace();
    ids.find(|id| id.eq_ignore_ascii_case(word))
}

/// What the last word of an expression was, and so what may follow.
#[derive(Clone, Copy, PartialEq, Eq)]
enum After {
    Operator,
    Id,
    With,
    Operand,
}

/// The expression with its ids as they are listed. It is read word by word, so that no number of
/// parentheses is too deep.
fn expression(written: &str) -> Option<String> {
    let (licenses, exceptions) = listed();
    let spaced = written.replace('(', " ( ").replace(')', " ) ");
    let (mut words, mut after, mut open) = (Vec::new(), After::Operator, 0_usize);
    for word in spaced.split_whitespace() {
        let operand = matches!(after, After::Id | After::Operand);
        let (read, then) = match word {
            "(" if after == After::Operator => {
                open += 1;
                (word.to_owned(), After::Operator)
            }
            ")" if operand => {
                open = open.checked_sub(1)?;
                (word.to_owned(), After::Operand)
            }
            "AND" | "OR" if operand => (word.to_owned(), After::Operator),
            "WITH" if after == After::Id => (word.to_owned(), After::With),
            _ if after == After::With => (find(exceptions, word)?.to_owned(), After::Operand),
            _ if after == After::Operator => {
                let later = || Some(find(licenses, word.strip_suffix('+')?)?.to_owned() + "+");
                let id = find(licenses, word).map(str::to_owned);
                (id.or_else(later)?, After::Id)
            }
            _ => return None,
        };
        words.push(read);
        after = then;
    }
    let is_whole = open == 0 && matches!(after, After::Id | After::Operand);
    is_whole.then(|| words.join(" ").replace("( ", "(").replace(" )", ")"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::Value;
    use std::collections::BTreeSet;

    #[test]
    fn ids_and_expressions_are_known_and_nothing_is_guessed() {
        for (written, id) in [
            ("MIT", "MIT"),
            ("apache-2.0", "Apache-2.0"),
            (" 0BSD ", "0BSD"),
            ("GPL-2.0+", "GPL-2.0+"),
        ] {
            assert_eq!(Meaning::of(written), Meaning::Id(id));
        }
        for (written, expression) in [
            ("mit OR Apache-2.0", "MIT OR Apache-2.0"),
            ("( MIT AND(0BSD) )", "(MIT AND (0BSD))"),
            (
                "Apache-2.0 WITH llvm-exception",
                "Apache-2.0 WITH LLVM-exception",
            ),
            ("EPL-1.0+ OR MIT", "EPL-1.0+ OR MIT"),
        ] {
            assert_eq!(
                Meaning::of(written),
                Meaning::Expression(expression.to_owned())
            );
        }
        for text in [
            "",
            "Apache 2.0",
            "MIT or Apache-2.0",
            "MIT OR",
            "MIT MIT",
            "(MIT",
            "MIT)",
            "()",
            "MIT WITH MIT",
            "(MIT) WITH LLVM-exception",
            "LLVM-exception",
            "LicenseRef-mine",
            "Proprietary. LICENSE.txt has complete terms",
            &"(".repeat(100_000),
        ] {
            assert_eq!(Meaning::of(text), Meaning::Text(text.to_owned()));
        }
    }

    /// An id that the schema does not have would make the whole bill invalid.
    #[test]
    fn the_list_is_that_of_the_schema() {
        let schema = include_str!("../../../tests/schemas/spdx.schema.json");
        let schema: Value = serde_json::from_str(schema).unwrap();
        let ids = schema["enum"].as_array().unwrap().iter();
        let ids: BTreeSet<&str> = ids.filter_map(Value::as_str).collect();
        assert_eq!(LIST.split_whitespace().collect::<BTreeSet<_>>(), ids);
    }
}
