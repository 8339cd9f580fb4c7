//! Divides the prompt's space for skills: names first, then equal shares for descriptions.

use super::Offered;
use crate::skill::{SkillName, one_line};
use crate::sys::limits;
use crate::sys::text::shorten;

/// A description cut below this many characters says nothing.
const SHORTEST_DESCRIPTION: usize = 20;

/// A skill's line before cutting.
pub struct Line<'a> {
    /// Its name.
    pub name: &'a SkillName,
    /// The text before the description.
    pub head: String,
    /// The description; empty if withheld.
    pub text: String,
}

impl<'a> Line<'a> {
    /// The line of a skill, with its tool unless one tool serves all or its name tells the tool.
    pub fn new(offered: &Offered<'a>, one_tool: bool) -> Self {
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

/// How the space is divided.
pub struct PromptBudget {
    /// The maximum length of one description, including the separator.
    pub most: usize,
    /// The number of skills named.
    pub lines: usize,
    /// Whether something is cut.
    pub is_short: bool,
}

impl PromptBudget {
    /// Divides `budget` characters; names alone may take twice as many. The rest of the block has
    /// `intro` characters, plus `remark` if something is cut and `rest` if some skills are only
    /// counted.
    pub fn new(lines: &[Line], budget: usize, intro: usize, remark: usize, rest: usize) -> Self {
        let longest = limits::DESCRIPTION_CHARS + ": ".len();
        let heads = lines.iter().map(|line| chars(&line.head) + 1);
        let names: usize = intro + heads.clone().sum::<usize>();
        let wants: Vec<usize> = lines.iter().map(|line| line.wants().min(longest)).collect();
        let is_whole = lines.iter().all(|line| line.wants() <= longest);
        if is_whole && names + wants.iter().sum::<usize>() <= budget {
            return Self {
                most: longest,
                lines: lines.len(),
                is_short: false,
            };
        }
        let names = names + remark;
        let most = share(&wants, budget.saturating_sub(names)).min(longest);
        let twice = budget.saturating_mul(2);
        let mut left = twice.saturating_sub(intro + remark);
        if names > twice {
            left = left.saturating_sub(rest);
        }
        let fits = heads.take_while(|head| {
            let fits = *head <= left;
            left = left.saturating_sub(*head);
            fits
        });
        Self {
            most,
            lines: fits.count(),
            is_short: true,
        }
    }
}

/// Untrusted text on one line, without markup.
pub(super) fn escaped(text: &str) -> String {
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
pub fn chars(text: &str) -> usize {
    text.chars().count()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn the_budget_is_kept_and_names_may_have_it_twice(
            lengths in prop::collection::vec((1_usize..64, 0_usize..2000), 0..60),
            budget in 800_usize..20_000,
        ) {
            let (intro, remark, rest) = (400, 150, 60);
            let name = SkillName::from_written("x").unwrap();
            let line = |&(head, text): &(usize, usize)| Line {
                name: &name,
                head: "h".repeat(head),
                text: "t".repeat(text),
            };
            let lines: Vec<Line> = lengths.iter().map(line).collect();
            let room = PromptBudget::new(&lines, budget, intro, remark, rest);
            let heads: usize = lengths[..room.lines].iter().map(|(head, _)| head + 1).sum();
            let texts = lines[..room.lines].iter().filter_map(|line| line.within(room.most).0);
            let texts: usize = texts.map(|text| chars(&text) + 2).sum();
            let more = if room.lines < lines.len() { rest } else { 0 };
            let remark = if room.is_short { remark } else { 0 };
            let all = intro + remark + heads + texts + more;
            let names = intro + remark + lengths.iter().map(|(head, _)| head + 1).sum::<usize>();
            prop_assert!(all <= budget.max(names).min(2 * budget), "{} of {}", all, budget);
            prop_assert!(names > 2 * budget || room.lines == lines.len());
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
