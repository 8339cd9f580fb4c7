//! What a text has and does not show to its readers: HTML comments, and the titles of Markdown's
//! link definitions (`[//]: # (…)`). Pure.

use super::lines::{Line, folded};

/// Beginnings of blocks of HTML that blank lines do not end.
const HTML: [&str; 6] = ["<pre", "<script", "<style", "<textarea", "<?", "<!"];

/// What is not shown, each with the number of its first line. In `markdown`, what a code fence shows
/// is not.
pub fn comments(lines: &[Line], markdown: bool) -> Vec<(usize, String)> {
    let whole = || lines.iter().filter(|line| line.extent.is_whole());
    let mut fences = Fences::new(whole().next(), markdown);
    let mut text = String::new();
    for line in whole() {
        text += if fences.has(&line.text) {
            ""
        } else {
            &line.normal
        };
        text.push('\n');
    }
    let mut found = Vec::new();
    let (mut rest, mut number) = (&*text, 1);
    while let Some((before, inside)) = rest.split_once("<!--") {
        let (comment, after) = inside.split_once("-->").unwrap_or((inside, ""));
        number += before.matches('\n').count();
        found.push((number, folded(comment)));
        number += comment.matches('\n').count();
        rest = after;
    }
    let defined = |(number, line): (usize, &str)| {
        let (label, rest) = line.trim_start().strip_prefix('[')?.split_once("]:")?;
        let title = rest.split_once(['"', '\'', '('])?.1;
        (!label.contains(']')).then(|| (number, title.to_owned()))
    };
    found.extend((1..).zip(text.lines()).filter_map(defined));
    found
}

/// Finds the code fences that every reader of Markdown sees in the same place. From the first doubt
/// on there is none: a comment that only seems to be in one is hidden.
struct Fences {
    /// The character of the open fence, and how often it stands there.
    open: Option<(u8, usize)>,
    is_certain: bool,
    /// How many of the two lines around the frontmatter are to come.
    frontmatter: u8,
    in_comment: bool,
    in_html: bool,
}

impl Fences {
    fn new(first: Option<&Line>, is_certain: bool) -> Self {
        let has_frontmatter = first.is_some_and(|line| line.text.trim_end() == "---");
        Self {
            open: None,
            is_certain,
            frontmatter: if has_frontmatter { 2 } else { 0 },
            in_comment: false,
            in_html: false,
        }
    }

    /// Whether the next line of the text belongs to a fence.
    fn has(&mut self, line: &str) -> bool {
        if line.contains('\r') {
            // What is behind it is another line.
            (self.is_certain, self.open) = (false, None);
        }
        if let Some(open) = self.open {
            self.open.take_if(|_| is_end(line, open));
            return true;
        }
        let start = line.trim_start();
        self.in_html = !start.is_empty() && (self.in_html || start.starts_with('<'));
        let lower = start.get(..9).unwrap_or(start).to_ascii_lowercase();
        let stays_html = HTML.iter().any(|tag| lower.starts_with(tag));
        self.is_certain &= !stays_html || lower.starts_with("<!--");
        if line.contains("```") || line.contains("~~~") {
            let is_hidden = self.frontmatter > 0 || self.in_comment || self.in_html;
            self.is_certain &= !is_hidden;
            self.open = start_of(line).filter(|_| self.is_certain);
            self.is_certain &= self.open.is_some();
            return self.open.is_some();
        }
        for (at, part) in line.split_inclusive("--").enumerate() {
            self.in_comment &= at == 0 || !part.starts_with('>');
            self.in_comment |= part.ends_with("<!--");
        }
        if line.trim_end() == "---" {
            self.frontmatter = self.frontmatter.saturating_sub(1);
        }
        false
    }
}

/// The fence that a line opens at its first column: elsewhere it may be in a list or a quotation.
fn start_of(line: &str) -> Option<(u8, usize)> {
    let mark = *line.as_bytes().first()?;
    let count = line.bytes().take_while(|byte| *byte == mark).count();
    let is_open = match mark {
        b'`' => !line[count..].contains('`'),
        b'~' => true,
        _ => false,
    };
    (is_open && count >= 3).then_some((mark, count))
}

fn is_end(line: &str, (mark, count): (u8, usize)) -> bool {
    let bare = line.trim_start_matches(' ');
    let marks = bare.bytes().take_while(|byte| *byte == mark).count();
    line.len() - bare.len() < 4
        && marks >= count
        && bare[marks..].trim_matches([' ', '\t']).is_empty()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::marketplace::scan::lines::lines;

    fn of(text: &str) -> usize {
        comments(&lines(text), true).len()
    }

    #[test]
    fn what_a_code_fence_shows_is_no_comment() {
        for text in [
            "# A\n```html\n<!-- x -->\n```\n",
            "---\nname: a\n---\n~~~~\n```\n<!-- x -->\n~~~~",
            "```\n[//]: # (x)\n",
            "<p>\n\n<!-- a -->\n\n```\n<!-- x -->\n```",
        ] {
            let shown = text.matches("<!-- a").count();
            assert_eq!(of(text), shown, "{text}");
            assert!(comments(&lines(text), false).len() > shown, "{text}");
        }
    }

    /// Each of these is hidden from the readers of some Markdown.
    #[test]
    fn what_only_seems_to_be_in_a_fence_is_one() {
        for text in [
            "```\n```\n<!-- x -->",
            "````\n```\n````\n<!-- x -->",
            "```\n    ```\n```\n<!-- x -->",
            "```a`b\n<!-- x -->",
            " ```\n```\n<!-- x -->",
            "- ```\n```\n<!-- x -->",
            "> ~~~\n<!-- x -->",
            "<div>\n```\n\n<!-- x -->",
            "<pre>\n\n```\n</pre>\n<!-- x -->",
            "<!--\n```\n-->\n<!-- x -->",
            "a <!-- b\n\n```\n-->\n```\n<!-- x -->",
            "<!-- a --\n> b\n```\n silently -->",
            "---\na: \"\n```\n\"\n---\n<!-- x -->",
            "```\r```\n<!-- x -->",
            "a\r```\n```\n<!-- x -->",
            "```\na\n```\r<!-- x -->",
            "```\n<!--\n```\n<!-- x -->",
        ] {
            assert!(of(text) > 0, "{text}");
        }
    }
}
