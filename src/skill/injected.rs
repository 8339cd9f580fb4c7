//! Commands that other clients run while they load a skill: `` !`command` ``, and blocks whose
//! fence is followed by `!`. Here they are plain text, and are only counted to report them.

/// The number of such commands in a body. In real skills half of them only describe the syntax
/// (docs/spec/skills.md#bodies), which looks the same.
pub fn injected_commands(body: &str) -> usize {
    let marks = body.match_indices('!').map(|(at, _)| at);
    let is_command = |at: &usize| {
        let (before, after) = (&body[..*at], &body[at + 1..]);
        opens_block(before) || is_inline(before, after)
    };
    marks.filter(is_command).count()
}

fn opens_block(before: &str) -> bool {
    let line = before.rsplit('\n').next().unwrap_or(before);
    matches!(line.trim_start(), "```" | "~~~")
}

fn is_inline(before: &str, after: &str) -> bool {
    let stands_free =
        before.is_empty() || before.ends_with(|c: char| c.is_whitespace() || "([\"'".contains(c));
    let command = after.strip_prefix('`').and_then(|text| text.lines().next());
    stands_free && command.is_some_and(|line| line.find('`').is_some_and(|length| length > 0))
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
