//! The work of a decision grows with a command and not faster. It is counted in steps, not in time, so what is said
//! here holds on every machine: a long command of each shape is decided within them.

use crate::shell_tables::refusal;

const ENTRIES: &str = "Bash(git:*) Bash(cd:*) Bash(rm:*) Read(src/**) Write(out/**)";
const SAYS: &str = "checking it would take too long";

/// A beginning, what is repeated, an end, and up to how many KiB the command is allowed: mostly as many as other
/// limits leave (docs/spec/limits.md#decisions).
const ALLOWED: [(&str, &str, &str, usize); 33] = [
    ("", "git a; ", "git a", 4),
    ("", "git a && ", "git a", 4),
    ("", "git a | ", "git a", 4),
    ("git", " a", "", 8),
    ("git", " a $f \"d e\" 'f'", "", 8),
    ("git", " $(git a)", "", 8),
    ("git", " \"$(git a)\"", "", 8),
    ("git", " `git a`", "", 4),
    ("git \"", "$x", "\"", 63),
    ("git '", "a b;", "'", 63),
    ("git ", "\\a", "", 63),
    ("git ", "'a'\"b\"", "", 63),
    ("git ", "[", "", 63),
    ("git # ", "a", "", 63),
    ("git <<'E'\n", "a line of text\n", "E\n", 63),
    ("git <<E\n", "a $x line\n", "E\n", 63),
    ("", "git <<E\nx\nE\n", "git", 8),
    ("git a", " > out/a", "", 1),
    ("git a", " < src/a", "", 1),
    ("", "cd a; ", "git a", 4),
    ("", "if git a; then git b; fi; ", "git", 1),
    ("case $x in", " a) git a;;", " esac", 4),
    ("", "[[ a == b ]] && ", "git a", 1),
    ("", "(git a); ", "git", 4),
    ("bash -c '", "git a; ", "git a'", 4),
    ("rm", " ../a", "", 16),
    ("rm", " ~/a", "", 16),
    ("rm", " *", "", 8),
    ("rm", " {a,b}", "", 16),
    ("rm ", "a/", "", 16),
    ("rm ", "a/../", "", 16),
    ("git commit -m '", "see a/b.rs: x=1, @c ", "'", 63),
    ("git x '", "{\"a\": \"b/c\"}, ", "'", 63),
];

/// As above, for what is refused for another reason than its work.
const REFUSED: [(&str, &str, &str, usize); 8] = [
    ("", "{a", "", 4),
    ("", "[[ a ]]''{a", "", 63),
    ("", "$(", "", 63),
    ("", "[[ ( ", "", 63),
    ("", "if git a; then ", "", 63),
    ("find . ", "-exec git {} ';' ", "", 12),
    ("", "xargs ", "git", 1),
    ("", "env ", "git", 1),
];

fn repeated((begin, unit, end): (&str, &str, &str), kib: usize) -> String {
    let room = kib * 1024 - begin.len() - end.len();
    format!("{begin}{}{end}", unit.repeat(room / unit.len()))
}

#[test]
fn long_commands_of_each_shape_are_decided_within_the_steps() {
    for (begin, unit, end, kib) in ALLOWED {
        let told = refusal(ENTRIES, &repeated((begin, unit, end), kib));
        assert_eq!(told, None, "{kib} KiB of {unit:?}");
    }
    for (begin, unit, end, kib) in REFUSED {
        let told = refusal(ENTRIES, &repeated((begin, unit, end), kib)).unwrap();
        assert!(!told.contains(SAYS), "{kib} KiB of {unit:?}: {told}");
    }
    for (begin, unit, end, _) in ALLOWED.into_iter().chain(REFUSED) {
        let told = refusal(ENTRIES, &repeated((begin, unit, end), 256)).unwrap();
        assert!(!told.contains(SAYS), "256 KiB of {unit:?}: {told}");
    }
}
