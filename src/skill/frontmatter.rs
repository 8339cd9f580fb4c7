//! Splits a `SKILL.md` into frontmatter and body. Accepts every fence found in 56,213 real files
//! (docs/spec/skills.md#fences), and reports what is unusual.

use super::{Diagnostic, mapping};

/// A split `SKILL.md`.
#[derive(Debug, PartialEq, Eq)]
pub struct Split<'a> {
    /// The YAML text; `None` if the file has no frontmatter.
    pub yaml: Option<&'a str>,
    /// The Markdown after it, unchanged.
    pub body: &'a str,
    /// What was unusual about the fences.
    pub diagnostics: Vec<Diagnostic>,
}

/// Splits a file. Never fails: a file without frontmatter is all body.
pub fn split(text: &str) -> Split<'_> {
    let mut diagnostics = Vec::new();
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let text = unwrap_code_fence(text, &mut diagnostics);
    let Some(start) = opening(text, &mut diagnostics) else {
        diagnostics.push(Diagnostic::NoFrontmatter);
        return Split {
            yaml: None,
            body: text,
            diagnostics,
        };
    };
    let block = &text[start..];
    let (end, body) = closing(block, &mut diagnostics);
    Split {
        yaml: Some(&block[..end]),
        body: &block[body..],
        diagnostics,
    }
}

/// Lines without their line ends, each with its offset.
fn lines(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let mut at = 0;
    text.split_inclusive('\n').map(move |line| {
        let start = at;
        at += line.len();
        (start, line.trim_end_matches(['\n', '\r']))
    })
}

/// The offset of the line after the one at `start`.
fn after_line(text: &str, start: usize) -> usize {
    text[start..]
        .find('\n')
        .map_or(text.len(), |newline| start + newline + 1)
}

fn is_fence(line: &str) -> bool {
    // `trim_end` also removes the no-break space that some editors put after the dashes.
    line.trim_end() == "---"
}

/// Removes a code fence around the whole file, which comes from copying out of a chat.
fn unwrap_code_fence<'a>(text: &'a str, diagnostics: &mut Vec<Diagnostic>) -> &'a str {
    let trimmed = text.trim_start();
    let ticks = trimmed.len() - trimmed.trim_start_matches('`').len();
    let inner = &trimmed[after_line(trimmed, 0)..];
    if ticks < 3 || !inner.lines().next().is_some_and(is_fence) {
        return text;
    }
    diagnostics.push(Diagnostic::WrappedInFence);
    let end = inner.trim_end();
    end.strip_suffix(&trimmed[..ticks]).unwrap_or(end)
}

/// Where the YAML begins: after the opening fence, or at the first line if that is a key.
fn opening(text: &str, diagnostics: &mut Vec<Diagnostic>) -> Option<usize> {
    let skipped = skip_blank_and_comments(text);
    let first = text[skipped..].lines().next().unwrap_or_default();
    if is_fence(first) {
        return Some(after_line(text, skipped));
    }
    if first.starts_with("name:") || first.starts_with("description:") {
        diagnostics.push(Diagnostic::NoOpeningFence);
        return Some(skipped);
    }
    // A heading or a banner may precede the block; a block further down is an example in the body.
    let fences = lines(text).take_while(|(at, _)| *at < 400);
    let mut starts = fences
        .filter(|(_, line)| is_fence(line))
        .map(|(at, _)| after_line(text, at));
    let start = starts.find(|start| text[*start..].starts_with("name:"))?;
    diagnostics.push(Diagnostic::TextBeforeFrontmatter);
    Some(start)
}

fn skip_blank_and_comments(text: &str) -> usize {
    let mut at = 0;
    loop {
        at = text.len() - text[at..].trim_start().len();
        match text[at..]
            .strip_prefix("<!--")
            .and_then(|comment| comment.find("-->"))
        {
            Some(end) => at += "<!--".len() + end + "-->".len(),
            None => return at,
        }
    }
}

/// Where the YAML ends and where the body begins, both as offsets in `block`.
fn closing(block: &str, diagnostics: &mut Vec<Diagnostic>) -> (usize, usize) {
    let first = |is_it: &dyn Fn(&str) -> bool| {
        let found = lines(block).find(|(_, line)| is_it(line));
        found.map(|(at, _)| at)
    };
    let whole = first(&is_fence);
    let glued = first(&|line| line.starts_with("---"));
    let glued = glued.filter(|glued| whole.is_none_or(|whole| ends_at(block, *glued, whole)));
    if let Some(at) = glued {
        diagnostics.push(Diagnostic::GluedFence);
        let behind = block[at..].trim_start_matches('-');
        return (at, block.len() - behind.len());
    }
    if let Some(at) = whole {
        return (at, after_line(block, at));
    }
    diagnostics.push(Diagnostic::UnclosedFrontmatter);
    let has_heading = block.contains("\n# ");
    let end = first(&|line| line.starts_with("# ") || (line.is_empty() && !has_heading));
    let end = end.unwrap_or(block.len());
    (end, end)
}

/// Whether the YAML ends at the fence glued to its text. The whole-line fence that follows is then
/// a rule in the body, and only the text before the glued fence is YAML.
fn ends_at(block: &str, glued: usize, whole: usize) -> bool {
    glued < whole
        && mapping::strict(&block[..whole]).is_none()
        && mapping::strict(&block[..glued]).is_some()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn codes(split: &Split<'_>) -> Vec<String> {
        split.diagnostics.iter().map(Diagnostic::code).collect()
    }

    #[test]
    fn plain_fences() {
        let split = split("---\nname: x\n---\n# T\n\n---\nrule\n");
        assert_eq!(
            (split.yaml, split.body),
            (Some("name: x\n"), "# T\n\n---\nrule\n")
        );
        assert!(split.diagnostics.is_empty());
    }

    #[test]
    fn fences_with_bom_crlf_spaces_and_things_before_them() {
        for before in [
            "",
            "\u{feff}",
            "\n",
            "\r\n",
            "<!-- a\nb -->\n",
            "  \n<!-- x --> \n",
        ] {
            for fence in ["---", "---  ", "---\u{a0}"] {
                for newline in ["\n", "\r\n"] {
                    let text = format!("{before}{fence}{newline}name: x{newline}{fence}{newline}B");
                    let split = split(&text);
                    assert_eq!(split.yaml.map(str::trim), Some("name: x"), "{text:?}");
                    assert_eq!(split.body, "B", "{text:?}");
                }
            }
        }
    }

    #[test]
    fn a_fence_at_the_end_of_the_file_leaves_an_empty_body() {
        assert_eq!(split("---\nname: x\n---").body, "");
    }

    #[test]
    fn odd_fences_are_forgiven_and_named() {
        for (text, yaml, body, code) in [
            (
                "---\nname: x\n---# T\nb",
                "name: x\n",
                "# T\nb",
                "glued-fence",
            ),
            (
                "---\nname: x\n---# T\n\n---\n*r*: [\n",
                "name: x\n",
                "# T\n\n---\n*r*: [\n",
                "glued-fence",
            ),
            (
                "---\nname: x\n\n# T\nb",
                "name: x\n\n",
                "# T\nb",
                "unclosed-frontmatter",
            ),
            ("name: x\n---\nb", "name: x\n", "b", "no-opening-fence"),
            ("name: x\n\nb", "name: x\n", "\nb", "no-opening-fence"),
            (
                "# T\n---\nname: x\n---\nb",
                "name: x\n",
                "b",
                "text-before-frontmatter",
            ),
            (
                "```markdown\n---\nname: x\n---\nb\n```\n",
                "name: x\n",
                "b\n",
                "wrapped-in-fence",
            ),
            (
                "````\n---\nname: x\n---\nb\n````",
                "name: x\n",
                "b\n",
                "wrapped-in-fence",
            ),
        ] {
            let split = split(text);
            assert_eq!((split.yaml, split.body), (Some(yaml), body), "{text:?}");
            assert!(
                codes(&split).iter().any(|c| c == code),
                "{text:?}: {:?}",
                codes(&split)
            );
        }
    }

    #[test]
    fn an_example_block_in_the_body_is_not_frontmatter() {
        let text = format!(
            "# Title\n\n{}\n---\nname: example\n---\n",
            "words ".repeat(100)
        );
        let split = split(&text);
        assert_eq!(
            (split.yaml, codes(&split)),
            (None, vec!["no-frontmatter".to_owned()])
        );
    }

    proptest! {
        #[test]
        fn any_text_is_taken_apart(text in "(---|\\n|\\r|name:|`{3}|<!--|-->|[a-z# \u{a0}é]){0,30}") {
            let split = split(&text);
            prop_assert!(split.yaml.map_or(0, str::len) + split.body.len() <= text.len());
        }
    }
}
