//! Writes the answers into a conversation's file. In YAML only the lines of `answer` change, so
//! comments are preserved; JSON is rewritten.

use serde_json::{Value, json};

use super::play::Played;
use super::script::{Conversation, is_json};
use crate::error::{Error, Result};

impl Conversation {
    /// The file's text with each step's answer as its `answer`.
    ///
    /// # Errors
    /// When answers cannot be inserted into the file as it is written.
    pub fn recorded(&self, played: &[Played]) -> Result<String> {
        let answers: Vec<Value> = (0..self.script.steps.len())
            .map(|at| answer(played, at))
            .collect();
        let wrong = || {
            let text = format!("answers cannot be written into `{}`", self.file.display());
            Error::new(text).hint("write `steps:` on a line of its own, and each step as a block that begins with `- `")
        };
        if is_json(&self.file) {
            let mut value: Value = serde_json::from_str(&self.text).map_err(|_| wrong())?;
            put(&mut value, &answers);
            return serde_json::to_string_pretty(&value)
                .map(|json| json + "\n")
                .map_err(|_| wrong());
        }
        let text = in_yaml(&self.text, &answers).ok_or_else(wrong)?;
        let (before, after) = (
            serde_yaml::from_str::<Value>(&self.text),
            serde_yaml::from_str::<Value>(&text),
        );
        let mut expected = before.map_err(|_| wrong())?;
        put(&mut expected, &answers);
        // Only the answers may have changed.
        if after.is_ok_and(|after| after == expected) {
            Ok(text)
        } else {
            Err(wrong())
        }
    }
}

/// A step's answer: one text if the generations agree.
fn answer(played: &[Played], at: usize) -> Value {
    let texts: Vec<&str> = played
        .iter()
        .map(|play| play.steps[at].answer.as_str())
        .collect();
    if texts.windows(2).all(|pair| pair[0] == pair[1]) {
        return json!(texts.first());
    }
    let by_host = played
        .iter()
        .map(|play| (play.host.to_owned(), json!(play.steps[at].answer)));
    Value::Object(by_host.collect())
}

fn put(value: &mut Value, answers: &[Value]) {
    let steps = value["steps"].as_array_mut().into_iter().flatten();
    for (step, answer) in steps.zip(answers) {
        step["answer"] = answer.clone();
    }
}

fn in_yaml(text: &str, answers: &[Value]) -> Option<String> {
    let lines: Vec<&str> = text.lines().collect();
    let steps = lines.iter().position(|line| line.trim_end() == "steps:")?;
    let first = steps
        + 1
        + lines[steps + 1..]
            .iter()
            .position(|line| line.trim_start().starts_with("- "))?;
    let column = indent(lines[first]);
    let is_item = |line: &str| indent(line) == column && line.trim_start().starts_with("- ");
    let is_over = |line: &str| {
        let text = line.trim_start();
        !text.is_empty() && !text.starts_with('#') && indent(line) <= column && !is_item(line)
    };
    let end = first
        + lines[first..]
            .iter()
            .position(|line| is_over(line))
            .unwrap_or(lines.len() - first);
    let mut written: Vec<String> = lines[..first]
        .iter()
        .map(|line| (*line).to_owned())
        .collect();
    let mut answers = answers.iter();
    let mut at = first;
    while at < end {
        let next = at
            + 1
            + lines[at + 1..end]
                .iter()
                .position(|line| is_item(line))
                .unwrap_or(end - at - 1);
        let item = lines[at];
        let keys = column + 1 + indent(&item[column + 1..]);
        written.extend(step(&lines[at..next], keys, answers.next()?));
        at = next;
    }
    written.extend(lines[end..].iter().map(|line| (*line).to_owned()));
    Some(written.join("\n") + "\n")
}

/// The lines of one step with its `answer` added or replaced.
fn step(lines: &[&str], keys: usize, answer: &Value) -> Vec<String> {
    let mut kept: Vec<String> = Vec::new();
    let mut dropping = false;
    let mut blanks: Vec<String> = Vec::new();
    for (at, line) in lines.iter().enumerate() {
        if line.trim().is_empty() {
            blanks.push((*line).to_owned());
            continue;
        }
        if indent(line) <= keys {
            dropping = at > 0 && indent(line) == keys && line.trim_start().starts_with("answer:");
        }
        // Blank lines inside an earlier answer are removed with it; those after it stay.
        if dropping && indent(line) > keys {
            blanks.clear();
        }
        kept.append(&mut blanks);
        if !dropping {
            kept.push((*line).to_owned());
        }
    }
    kept.append(&mut blanks);
    // Lines between two steps belong to the next one.
    let belongs = |line: &String| !line.trim().is_empty() && !line.trim_start().starts_with('#');
    let body = kept
        .iter()
        .rposition(belongs)
        .map_or(kept.len(), |last| last + 1);
    let tail = kept.split_off(body);
    match answer {
        Value::Object(by_host) => {
            kept.push(format!("{:keys$}answer:", ""));
            for (host, text) in by_host {
                kept.extend(scalar(host, text.as_str().unwrap_or_default(), keys + 2));
            }
        }
        text => kept.extend(scalar("answer", text.as_str().unwrap_or_default(), keys)),
    }
    kept.extend(tail);
    kept
}

/// `key: text` at a column: as a block if that preserves every character, otherwise quoted.
fn scalar(key: &str, text: &str, column: usize) -> Vec<String> {
    let content = text.strip_suffix('\n').unwrap_or(text);
    let odd = content.starts_with([' ', '\t', '\n'])
        || content.ends_with('\n')
        || content.chars().any(|c| c.is_control() && c != '\n')
        || content.contains(['\u{85}', '\u{2028}', '\u{2029}', '\u{feff}']);
    if odd || !content.contains('\n') {
        return vec![format!("{:column$}{key}: {}", "", json!(text))];
    }
    let mark = if content.len() == text.len() {
        "|-"
    } else {
        "|"
    };
    let line = |line: &str| {
        if line.is_empty() {
            String::new()
        } else {
            format!("{:1$}{line}", "", column + 2)
        }
    };
    let mut lines = vec![format!("{:column$}{key}: {mark}", "")];
    lines.extend(content.split('\n').map(line));
    lines
}

fn indent(line: &str) -> usize {
    line.len() - line.trim_start_matches(' ').len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_answers_change_and_comments_stay() {
        let text = "# about\nskills: [x]\nsteps:\n  - prompt: a # says\n    answer: |\n      old\n\n      older\n    \
                    expect: {}\n\n  # the second\n  - call: b\nfiles: {}\n";
        let answers = [
            json!("one\n\n two"),
            json!({"stdin": "\u{1b}[1m", "environment": ""}),
        ];
        let recorded = in_yaml(text, &answers).unwrap();
        assert_eq!(
            recorded,
            "# about\nskills: [x]\nsteps:\n  - prompt: a # says\n    expect: {}\n    answer: |-\n      one\n\n       two\n\n  \
             # the second\n  - call: b\n    answer:\n      stdin: \"\\u001b[1m\"\n      environment: \"\"\nfiles: {}\n"
        );
        assert_eq!(in_yaml(&recorded, &answers).unwrap(), recorded);
        let value: Value = serde_yaml::from_str(&recorded).unwrap();
        assert_eq!(value["steps"][0]["answer"], answers[0]);
        assert_eq!(value["steps"][1]["answer"], answers[1]);
    }
}
