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
        let steps = 0..self.script.steps.len();
        let answers: Vec<Value> = steps.map(|at| answer(played, at)).collect();
        let wrong = || {
            let text = format!("answers cannot be written into `{}`", self.file.display());
            Error::new(text).hint("write `steps:` on a line of its own, and each step as a block that begins with `- `")
        };
        if is_json(&self.file) {
            let mut value: Value = serde_json::from_str(&self.text).map_err(|_| wrong())?;
            put(&mut value, &answers);
            return Ok(format!("{value:#}\n"));
        }
        let text = in_yaml(&self.text, &answers).ok_or_else(wrong)?;
        let mut expected: Value = serde_yaml::from_str(&self.text).map_err(|_| wrong())?;
        put(&mut expected, &answers);
        // Only the answers may have changed.
        let written = serde_yaml::from_str::<Value>(&text);
        let is_right = written.is_ok_and(|written| written == expected);
        is_right.then_some(text).ok_or_else(wrong)
    }
}

/// A step's answer: one text if the generations agree.
fn answer(played: &[Played], at: usize) -> Value {
    let text = |play: &Played| json!(play.steps[at].answer);
    let first = played.first().map(text).unwrap_or_default();
    if played.iter().all(|play| text(play) == first) {
        return first;
    }
    let by_host = played.iter().map(|play| (play.host.to_owned(), text(play)));
    by_host.collect()
}

fn put(value: &mut Value, answers: &[Value]) {
    let steps = value["steps"].as_array_mut().into_iter().flatten();
    for (step, answer) in steps.zip(answers) {
        step["answer"] = answer.clone();
    }
}

fn in_yaml(text: &str, answers: &[Value]) -> Option<String> {
    let lines: Vec<&str> = text.lines().collect();
    let begins_item = |line: &&str| line.trim_start().starts_with("- ");
    let steps = lines.iter().position(|line| line.trim_end() == "steps:")? + 1;
    let first = steps + lines[steps..].iter().position(begins_item)?;
    let column = indent(lines[first]);
    let is_item = |line: &&str| indent(line) == column && begins_item(line);
    let is_over = |line: &&str| {
        let text = line.trim_start();
        !text.is_empty() && !text.starts_with('#') && indent(line) <= column && !is_item(line)
    };
    let end = lines[first..].iter().position(is_over);
    let end = end.map_or(lines.len(), |length| first + length);
    let mut bounds: Vec<usize> = (first..end).filter(|at| is_item(&lines[*at])).collect();
    bounds.push(end);
    let mut written: Vec<String> = lines[..first].iter().map(ToString::to_string).collect();
    for (bounds, answer) in bounds.windows(2).zip(answers) {
        let lines = &lines[bounds[0]..bounds[1]];
        let keys = column + 1 + indent(&lines[0][column + 1..]);
        written.extend(step(lines, keys, answer));
    }
    written.extend(lines[end..].iter().map(ToString::to_string));
    (bounds.len() <= answers.len() + 1).then(|| written.join("\n") + "\n")
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
        kept.extend((!dropping).then(|| (*line).to_owned()));
    }
    kept.append(&mut blanks);
    // Lines between two steps belong to the next one.
    let belongs = |line: &String| !line.trim().is_empty() && !line.trim_start().starts_with('#');
    let last = kept.iter().rposition(belongs);
    let tail = kept.split_off(last.map_or(kept.len(), |last| last + 1));
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
    let is_whole = content.len() == text.len();
    let mark = if is_whole { "|-" } else { "|" };
    let line = |line: &str| match line {
        "" => String::new(),
        line => format!("{:1$}{line}", "", column + 2),
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
