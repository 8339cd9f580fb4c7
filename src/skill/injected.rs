//! Commands that other clients run while they load a skill: `` !`command` `` and blocks opened by
//! a fence and `!`. Here they are text, and this finds them only so that it can be said.

/// How many there are in a body. Half of those in real skills are about the syntax itself
/// (CORPUS.md §7), which cannot be told apart.
pub fn injected_commands(body: &str) -> usize {
    let inline = |line: &str| {
        let opened = line.match_indices("!`");
        let is_command = |at: usize| {
            let (before, after) = (&line[..at], &line[at + 2..]);
            let stands_free = before.is_empty()
                || before.ends_with(|c: char| c.is_whitespace() || "([\"'".contains(c));
            stands_free && after.find('`').is_some_and(|length| length > 0)
        };
        opened.filter(|(at, _)| is_command(*at)).count()
    };
    let opens_block = |line: &str| {
        let line = line.trim_start();
        line.starts_with("```!") || line.starts_with("~~~!")
    };
    body.lines()
        .map(|line| inline(line) + usize::from(opens_block(line)))
        .sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_are_told_from_exclamations() {
        for (body, count) in [
            ("- Status: !`git status`\n!`ls` and !`id`", 3),
            ("```!\ngit log\n```", 1),
            ("~~~!\ngit log\n~~~\n(!`id`) and [!`ls`]", 3),
            ("Hello!`x` and `!x` !`` !`open", 0),
            ("plain", 0),
        ] {
            assert_eq!(injected_commands(body), count, "{body}");
        }
    }
}
