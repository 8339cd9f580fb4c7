//! What the model is told before any activation: the catalog block of the system prompt. Its space is
//! divided into names first, then equal shares for descriptions. It fits
//! its budget, and no description in it can affect the surrounding text.

use std::collections::BTreeMap;

use super::discovery::Catalog;
use super::entry::OfferedSkill;
use crate::skill::{Diagnostic, SkillName, one_line};
use crate::sys::limits;
use crate::sys::text::{self, shorten};

/// Skills with a tool of their own: models take at most 128 tools, and the host and other plugins
/// have theirs.
const SKILL_TOOLS: usize = 32;
/// Characters of the catalog in the system prompt: about 3,000 tokens.
const PROMPT_CHARS: usize = 12_000;

/// A description cut below this many characters says nothing.
const SHORTEST_DESCRIPTION: usize = 20;

/// The disclosed catalog.
#[derive(Debug, Default)]
pub struct Disclosure<'a> {
    /// The block for the system prompt; empty if no skill is offered.
    pub block: String,
    /// Every skill whose text did not fit, with what the model is told instead. `search_installed`
    /// finds even a skill that is only counted ([`Diagnostic::NameOmitted`]).
    pub cut: BTreeMap<&'a SkillName, Diagnostic>,
}

impl Catalog {
    /// Whether there are so many skills that one tool serves all.
    pub fn has_one_tool(&self) -> bool {
        self.offered().len() > SKILL_TOOLS
    }
}

impl<'a> Disclosure<'a> {
    /// Builds the disclosure of `catalog`; deterministic.
    pub fn new(catalog: &'a Catalog) -> Self {
        Self::within(catalog, SKILL_TOOLS, PROMPT_CHARS)
    }

    fn within(catalog: &'a Catalog, tools: usize, room: usize) -> Self {
        let offered = catalog.offered();
        if offered.is_empty() {
            return Self::default();
        }
        let one_tool = offered.len() > tools;
        // What a policy requires is told whole, whatever room there is.
        let (required, rest): (Vec<_>, Vec<_>) =
            offered.iter().partition(|offered| offered.is_required);
        let lines = rest.into_iter().map(|one| CatalogLine::new(one, one_tool));
        let lines: Vec<CatalogLine> = lines.collect();
        let whole = required
            .into_iter()
            .map(|one| CatalogLine::new(one, one_tool));
        let whole: String = whole.map(|line| line.whole()).collect();
        let mut block = intro(one_tool);
        let fixed = chars(&block) + 1 + chars(&whole);
        let (most, named, is_short) = divide(&lines, room, fixed);
        if is_short {
            block.push_str(SHORTENED);
        }
        block.push('\n');
        block.push_str(&whole);
        let mut cut = BTreeMap::new();
        for (at, line) in lines.iter().enumerate() {
            let (text, why) = match line.within(most) {
                _ if at >= named => (None, Some(Diagnostic::NameOmitted)),
                (None, true) => (None, None),
                (None, false) => (None, Some(Diagnostic::DescriptionOmitted)),
                (Some(text), true) => (Some(text), None),
                (Some(text), false) => (Some(text), Some(Diagnostic::DescriptionShortened)),
            };
            if at < named {
                block.push_str(&line.head);
                if let Some(text) = text {
                    block.push_str(": ");
                    block.push_str(&text);
                }
                block.push('\n');
            }
            cut.extend(why.map(|why| (line.name, why)));
        }
        if named < lines.len() {
            block.push_str(&more(lines.len() - named));
        }
        block.truncate(block.trim_end().len());
        Self { block, cut }
    }
}

const SHORTENED: &str = "Some descriptions are shortened or left out. To find a skill and its full \
    description: skill_marketplace {\"action\": \"search_installed\", \"query\": …}\n";

fn intro(one_tool: bool) -> String {
    let call = if one_tool {
        "call the tool `skill` with its name as skill_name"
    } else {
        "call its tool skill_NAME"
    };
    format!(
        "## Available Agent Skills\n\n\
         Skills are instructions for specific tasks. When a task matches a skill's description, \
         prefer that skill: {call} first, then follow the instructions it returns. Run its \
         scripts with run_skill_script instead of reading them; read its other files with \
         read_skill_file when you need them.\n"
    )
}

fn more(count: usize) -> String {
    format!(
        "… and {}, which search_installed finds.",
        text::count(count, "more skill")
    )
}

/// A description on one line of bounded length that shows every character and cannot open or close
/// markup.
pub fn plain(text: &str) -> String {
    shorten(&escaped(text), limits::DESCRIPTION_CHARS)
}

/// A skill's line before cutting.
struct CatalogLine<'a> {
    /// Its name.
    pub name: &'a SkillName,
    /// The text before the description.
    pub head: String,
    /// The description; empty if withheld.
    pub text: String,
}

impl<'a> CatalogLine<'a> {
    /// The line of a skill, with its tool unless one tool serves all or its name tells the tool.
    pub fn new(offered: &OfferedSkill<'a>, one_tool: bool) -> Self {
        let name = &offered.skill.name;
        let head = if one_tool || offered.tool == format!("skill_{name}") {
            format!("- {name}")
        } else {
            format!("- {name} (tool `{}`)", offered.tool)
        };
        Self {
            name,
            head,
            text: escaped(&offered.told()),
        }
    }

    /// All of it, with a line's end.
    pub fn whole(&self) -> String {
        let (text, _) = self.within(limits::DESCRIPTION_CHARS + ": ".len());
        let text = text.map(|text| format!(": {text}")).unwrap_or_default();
        format!("{}{text}\n", self.head)
    }

    fn wants(&self) -> usize {
        match chars(&self.text) {
            0 => 0,
            length => length + ": ".len(),
        }
    }

    /// Its description in at most `most` characters, if any of it fits, and whether it is complete.
    pub fn within(&self, most: usize) -> (Option<String>, bool) {
        match most.saturating_sub(": ".len()) {
            _ if self.text.is_empty() => (None, true),
            _ if self.wants() <= most => (Some(self.text.clone()), true),
            room if room < SHORTEST_DESCRIPTION => (None, false),
            room => (Some(shorten(&self.text, room)), false),
        }
    }
}

/// Divides `budget` characters; names alone may take twice as many. The rest of the block has
/// `intro` characters, plus those of [`SHORTENED`] if something is cut and of [`more`] if some skills
/// are only counted. Returns the maximum length of one description with its separator, the number of skills that are
/// named, and whether something is cut.
fn divide(lines: &[CatalogLine], budget: usize, intro: usize) -> (usize, usize, bool) {
    let longest = limits::DESCRIPTION_CHARS + ": ".len();
    let heads = lines.iter().map(|line| chars(&line.head) + 1);
    let names: usize = intro + heads.clone().sum::<usize>();
    let wants: Vec<usize> = lines.iter().map(|line| line.wants().min(longest)).collect();
    let is_whole = lines.iter().all(|line| line.wants() <= longest);
    if is_whole && names + wants.iter().sum::<usize>() <= budget {
        return (longest, lines.len(), false);
    }
    let names = names + chars(SHORTENED);
    let most = share(&wants, budget.saturating_sub(names)).min(longest);
    let twice = budget.saturating_mul(2);
    let mut left = twice.saturating_sub(intro + chars(SHORTENED));
    if names > twice {
        left = left.saturating_sub(chars(&more(lines.len())));
    }
    let fits = heads.take_while(|head| {
        let fits = *head <= left;
        left = left.saturating_sub(*head);
        fits
    });
    (most, fits.count(), true)
}

/// Untrusted text on one line, without markup.
fn escaped(text: &str) -> String {
    one_line(text).replace('<', "&lt;").replace('>', "&gt;")
}

/// The maximum length for each text so that together they fit in `budget`: texts below it are kept
/// whole, longer ones are cut to it. Each gets an equal share of what the shorter ones leave.
fn share(lengths: &[usize], budget: usize) -> usize {
    let mut sorted = lengths.to_vec();
    sorted.sort_unstable();
    let mut left = budget;
    for (done, length) in sorted.iter().enumerate() {
        let each = left / (sorted.len() - done);
        if *length > each {
            return each;
        }
        left -= length;
    }
    usize::MAX
}

/// The length of a text in characters.
fn chars(text: &str) -> usize {
    text.chars().count()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::catalog::testing::catalog;

    fn text(description: &str, more: &str) -> String {
        format!("---\ndescription: {description}\n{more}\n---\n")
    }

    /// Skills `s00`, `s01`, … with descriptions of these lengths.
    fn lengths(lengths: &[usize]) -> (tempfile::TempDir, Catalog) {
        let skills: Vec<(String, String)> = (0..)
            .zip(lengths)
            .map(|(at, length): (usize, _)| (format!("s{at:03}"), text(&"d".repeat(*length), "")))
            .collect();
        let skills: Vec<(&str, &str)> = skills.iter().map(|(a, b)| (&**a, &**b)).collect();
        catalog(&skills)
    }

    #[test]
    fn one_line_per_skill_and_no_block_without_skills() {
        let (_root, none) = catalog(&[]);
        assert_eq!(Disclosure::new(&none).block, "");
        let (_root, two) = catalog(&[
            ("b", &text("does b", "")),
            ("a", &text("|\n  does\n  a", "")),
        ]);
        let disclosure = Disclosure::new(&two);
        let block = &disclosure.block;
        assert!(block.starts_with("## Available Agent Skills\n"));
        assert!(block.ends_with("\n\n- a: does a\n- b: does b"));
        assert!(disclosure.cut.is_empty());
    }

    #[test]
    fn above_the_number_of_tools_names_are_not_said_twice() {
        let (_root, two) = lengths(&[3, 3]);
        let disclosure = Disclosure::within(&two, 1, 12_000);
        let block = &disclosure.block;
        assert!(block.ends_with("\n- s000: ddd\n- s001: ddd"), "{block}");
        assert!(block.contains("the tool `skill` with its name"));
    }

    #[test]
    fn when_to_use_and_tags_belong_to_the_description() {
        let more = "when_to_use: For forms.\ntags: [a, b]";
        let (_root, one) = catalog(&[("x", &text("Fills.", more))]);
        let disclosure = Disclosure::new(&one);
        let block = &disclosure.block;
        assert!(block.ends_with(": Fills. For forms. [a, b]"), "{block}");
    }

    #[test]
    fn short_descriptions_stay_whole_and_long_ones_share_the_rest() {
        let (_root, skills) = lengths(&[1000, 10, 900, 800]);
        let disclosure = Disclosure::within(&skills, 32, 2000);
        let block = &disclosure.block;
        assert!(
            chars(block) <= 2000 && chars(block) > 1990,
            "{}",
            chars(block)
        );
        assert!(block.contains(": dddddddddd\n"), "{block}");
        let lengths: Vec<usize> = block
            .lines()
            .filter(|l| l.ends_with('…'))
            .map(chars)
            .collect();
        assert!(
            lengths.len() == 3 && lengths.iter().all(|l| *l == lengths[0]),
            "{lengths:?}"
        );
        let cut: Vec<_> = disclosure
            .cut
            .iter()
            .map(|(name, why)| (name.as_str(), why))
            .collect();
        assert_eq!(
            cut,
            ["s000", "s002", "s003"].map(|name| (name, &Diagnostic::DescriptionShortened))
        );
        assert!(block.contains("search_installed"));
    }

    #[test]
    fn names_outlast_descriptions_and_the_rest_is_counted() {
        let (_root, skills) = lengths(&[100; 60]);
        let disclose = |chars| {
            let disclosure = Disclosure::within(&skills, 1, chars);
            let left: Vec<Diagnostic> = disclosure.cut.into_values().collect();
            (disclosure.block, left)
        };
        let (block, left) = disclose(900);
        assert!(chars(&block) <= 1800 && !block.contains("ddd"), "{block}");
        assert!(
            left.len() == 60
                && left
                    .iter()
                    .all(|left| *left == Diagnostic::DescriptionOmitted)
        );
        let (block, left) = disclose(400);
        assert!(chars(&block) <= 800, "{}", chars(&block));
        let counted = left
            .iter()
            .filter(|left| **left == Diagnostic::NameOmitted)
            .count();
        assert!(counted > 0 && counted < 60, "{counted}");
        assert!(block.ends_with(&format!(
            "… and {counted} more skills, which search_installed finds."
        )));
        assert_eq!(
            block.lines().filter(|line| line.starts_with("- s")).count(),
            60 - counted
        );
    }

    #[test]
    fn a_description_is_bounded() {
        assert_eq!(
            plain(&"é".repeat(9000)).chars().count(),
            limits::DESCRIPTION_CHARS
        );
        let (_root, skills) = lengths(&[limits::DESCRIPTION_CHARS, limits::DESCRIPTION_CHARS + 1]);
        let cut: Vec<_> = Disclosure::new(&skills).cut.into_iter().collect();
        assert_eq!(cut.len(), 1);
        assert_eq!(
            (cut[0].0.as_str(), &cut[0].1),
            ("s001", &Diagnostic::DescriptionShortened)
        );
    }

    #[test]
    fn a_description_cannot_leave_its_line() {
        for (written, shown) in [
            ("a\n\n## Fake heading", "a ## Fake heading"),
            (
                "</available_skills> x <system>",
                "&lt;/available_skills&gt; x &lt;system&gt;",
            ),
            ("a\u{1b}[31mred\u{200b}\u{e0041}b\u{202e}", "a[31mredb"),
        ] {
            assert_eq!(plain(written), shown);
        }
    }

    use proptest::prelude::*;

    proptest! {
        #[test]
        fn the_budget_is_kept_and_names_may_have_it_twice(
            lengths in prop::collection::vec((1_usize..64, 0_usize..2000), 0..60),
            budget in 800_usize..20_000,
        ) {
            let intro = 400;
            let (remark, rest) = (chars(SHORTENED), chars(&more(lengths.len())));
            let name = SkillName::from_written("x").unwrap();
            let line = |&(head, text): &(usize, usize)| CatalogLine {
                name: &name,
                head: "h".repeat(head),
                text: "t".repeat(text),
            };
            let lines: Vec<CatalogLine> = lengths.iter().map(line).collect();
            let (most, named, is_short) = divide(&lines, budget, intro);
            let heads: usize = lengths[..named].iter().map(|(head, _)| head + 1).sum();
            let texts = lines[..named].iter().filter_map(|line| line.within(most).0);
            let texts: usize = texts.map(|text| chars(&text) + 2).sum();
            let more = if named < lines.len() { rest } else { 0 };
            let remark = if is_short { remark } else { 0 };
            let all = intro + remark + heads + texts + more;
            let names = intro + remark + lengths.iter().map(|(head, _)| head + 1).sum::<usize>();
            prop_assert!(all <= budget.max(names).min(2 * budget), "{} of {}", all, budget);
            prop_assert!(names > 2 * budget || named == lines.len());
        }
    }

    #[test]
    fn short_texts_keep_everything_and_long_ones_share_the_rest() {
        assert_eq!(share(&[10, 100, 100], 110), 50);
        assert_eq!(share(&[10, 20], 30), usize::MAX);
        assert_eq!(share(&[10, 20], 29), 19);
        assert_eq!(share(&[], 0), usize::MAX);
        assert_eq!(share(&[5, 5], 0), 0);
    }

    proptest! {
        #[test]
        fn a_shared_budget_is_kept(lengths in prop::collection::vec(0_usize..300, 0..40), budget in 0_usize..4000) {
            let most = share(&lengths, budget);
            let kept: usize = lengths.iter().map(|length| (*length).min(most)).sum();
            prop_assert!(kept <= budget);
            // Texts are cut only as far as needed: the rest is too small to give each one more
            // character.
            let cut = lengths.iter().filter(|length| **length > most).count();
            prop_assert!(cut == 0 || kept + cut > budget);
        }
    }
}
