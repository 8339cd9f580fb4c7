//! Splits a `SKILL.md` into frontmatter and body. Accepts every fence found in 56,213 real files, and
//! reports what is unusual.

use crate::Diagnostic;
use crate::fields::RestrictingKey;
use crate::mapping::{self, RestrictingKeys, begun_in_markdown};
use crate::text::lines;

/// A split `SKILL.md`.
#[derive(Debug, PartialEq, Eq)]
pub struct SplitSkillFile<'a> {
    /// The YAML text; `None` if the file has no frontmatter.
    pub yaml: Option<&'a str>,
    /// The Markdown after it, unchanged.
    pub body: &'a str,
    /// What was unusual about the fences.
    pub diagnostics: Vec<Diagnostic>,
    /// The keys that stand outside the YAML where the frontmatter may go on.
    pub(crate) outside: RestrictingKeys,
}

impl<'a> SplitSkillFile<'a> {
    /// The body without blank lines before and behind it.
    pub fn instructions(&self) -> &'a str {
        self.body.trim_start_matches(['\n', '\r']).trim_end()
    }
}

/// Splits a file. Never fails: a file without frontmatter is all body.
pub fn split(text: &str) -> SplitSkillFile<'_> {
    let mut diagnostics = Vec::new();
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let text = unwrap_code_fence(text, &mut diagnostics);
    let without = |diagnostics, outside| SplitSkillFile {
        yaml: None,
        body: text,
        diagnostics,
        outside,
    };
    if let Some(fence) = foreign_fence(text) {
        diagnostics.push(Diagnostic::ForeignFence(fence.to_owned()));
        return without(diagnostics, RestrictingKey::ALL.into());
    }
    let Some(start) = opening(text, &mut diagnostics) else {
        diagnostics.push(Diagnostic::NoFrontmatter);
        return without(diagnostics, begun_in_markdown(text));
    };
    let block = &text[start..];
    let (end, body) = closing(block, &mut diagnostics);
    let (yaml, after) = (&block[..end], &block[body..]);
    let is_guess = diagnostics.contains(&Diagnostic::GluedFence)
        || diagnostics.contains(&Diagnostic::UnclosedFrontmatter);
    let mut outside = behind(yaml, after, is_guess);
    if diagnostics.contains(&Diagnostic::TextBeforeFrontmatter) {
        outside.extend(begun_in_markdown(&text[..start]));
    }
    SplitSkillFile {
        yaml: Some(yaml),
        body: after,
        diagnostics,
        outside,
    }
}

/// The offset of the line after the one at `start`.
fn after_line(text: &str, start: usize) -> usize {
    let mut next = lines(&text[start..]).skip(1);
    next.next().map_or(text.len(), |(at, _)| start + at)
}

fn is_fence(line: &str) -> bool {
    // `trim_end` also removes the no-break space that some editors put after the dashes.
    line.trim_end() == "---"
}

/// The first line, if it opens frontmatter of another kind: `+++`, `---json`.
fn foreign_fence(text: &str) -> Option<&str> {
    let (_, first) = lines(&text[skip_blank_and_comments(text)..]).next()?;
    let first = first.trim_end();
    let language = first.strip_prefix("---").unwrap_or_default().trim_start();
    let is_language = !language.is_empty() && language.bytes().all(|b| b.is_ascii_alphabetic());
    let is_yaml =
        matches!(first.trim_start_matches('`'), "yaml" | "yml") && first.starts_with("```");
    (is_language || is_yaml || matches!(first, "+++" | ";;;")).then_some(first)
}

/// Removes a code fence around the whole file, which comes from copying out of a chat.
fn unwrap_code_fence<'a>(text: &'a str, diagnostics: &mut Vec<Diagnostic>) -> &'a str {
    let trimmed = text.trim_start();
    let ticks = trimmed.len() - trimmed.trim_start_matches('`').len();
    let inner = &trimmed[after_line(trimmed, 0)..];
    if ticks < 3 || !lines(inner).next().is_some_and(|(_, line)| is_fence(line)) {
        return text;
    }
    diagnostics.push(Diagnostic::WrappedInFence);
    let end = inner.trim_end();
    end.strip_suffix(&trimmed[..ticks]).unwrap_or(end)
}

/// Where the YAML begins: after the opening fence, or at the first line if that is a key.
fn opening(text: &str, diagnostics: &mut Vec<Diagnostic>) -> Option<usize> {
    let skipped = skip_blank_and_comments(text);
    let first = lines(&text[skipped..]).next().unwrap_or_default().1;
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
    let first = |matches: &dyn Fn(&str) -> bool| {
        let found = lines(block).find(|(_, line)| matches(line));
        found.map(|(at, _)| at)
    };
    let whole = whole_fence(block);
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
    let has_heading = lines(block).any(|(at, line)| at > 0 && line.starts_with("# "));
    let end = first(&|line| line.starts_with("# ") || (line.is_empty() && !has_heading));
    let end = end.unwrap_or(block.len());
    (end, end)
}

/// The offset of the first line that is only a fence.
fn whole_fence(text: &str) -> Option<usize> {
    let mut lines = lines(text);
    lines.find(|(_, line)| is_fence(line)).map(|(at, _)| at)
}

/// Whether the YAML ends at the fence glued to its text. The whole-line fence that follows is then
/// a rule in the body, and only the text before the glued fence is YAML. It does not end there if a
/// key that restricts would be lost.
fn ends_at(block: &str, glued: usize, whole: usize) -> bool {
    glued < whole
        && begun_in_markdown(block[glued..whole].trim_start_matches('-')).is_empty()
        && !mapping::is_strict(&block[..whole])
        && mapping::is_strict(&block[..glued])
}

/// The keys behind the end of the YAML, up to where the body certainly begins.
fn behind(yaml: &str, after: &str, is_guess: bool) -> RestrictingKeys {
    if is_guess {
        return begun_in_markdown(after);
    }
    // A second block directly behind the first was cut off it, by a `---` that was meant otherwise.
    let block = after.trim_start();
    let (at, first) = lines(block).next().unwrap_or_default();
    let block = if is_fence(first) {
        &block[after_line(block, at)..]
    } else {
        block
    };
    let Some(end) = whole_fence(block) else {
        return RestrictingKeys::new();
    };
    let found = begun_in_markdown(&block[..end]);
    let continues = || {
        let mut lines = lines(&block[..end]).map(|(_, line)| line);
        let is_more = |line: &str| line.is_empty() || line.starts_with([' ', '\t', '-', '#']);
        lines.next().is_some_and(mapping::begins_with_key)
            && lines.all(|line| is_more(line) || mapping::begins_with_key(line))
    };
    if found.is_empty() || continues() || !mapping::is_strict(yaml) {
        found
    } else {
        RestrictingKeys::new()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn codes(split: &SplitSkillFile<'_>) -> Vec<String> {
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
