//! Commands in and around protected places, most of them harmless elsewhere.

use super::Grammar;

const BEFORE: &[&str] = &[
    "", "", "", "", "cd sub && ", "cd .claude && ", "cd .claude; ", "cd ..; ", "cd sub; cd ..; ", "(cd .claude && rm -rf skills); ", "x=.claude; ", "x=skills\n", "d=sub; ", "x=sub; x=.claude; ", "cd .link && ", "cd \"$x\"; ",
    "x=.claude/skills/s.md; ", "x=./.claude; ", "d=sub/skills; ", "cat .claude/skills/kept; ", "cat / s; ",
    "command -p cd .claude; ", "command -- cd .claude && ", "CDPATH=.claude cd skills; ", "pushd .claude; ", "cd .cl*; ", "cd .claude &>/dev/null; ", "cd .claude &>/dev/null && ", "ls &>/dev/null ",
];

const WRAPPERS: &[&str] = &[
    "", "", "", "", "env -C .claude ", "env --chdir=.claude ", "env -C sub env -C ../.claude ", "timeout 5 ", "nice -n 5 ", "nohup ", "command ", "setsid ", "flock out/l ", "xargs ", "env CI=1 ",
    "timeout 5 env -C .link ", "sudo -D .claude ", "choom -n 5 -- ", "direnv exec .claude ", "env -C \"$x\" ", "stdbuf -oL ", "env -iC .claude ", "env -C .. ",
];

const PROGRAMS: &[&str] = &[
    "rm", "rm -rf", "rm -f --", "rmdir", "mv", "mv -f", "cp -r", "cp", "cp -rT", "ln -s", "ln -sfn", "tee", "tee -a", "touch", "mkdir -p", "chmod -R 0", "git rm -r", "git mv", "git clean -fd out", "git -C .claude rm -r",
    "git -C .claude clone u", "git -C.. clone u", "git -C sub -C ../.claude init", "git -C .link worktree add", "git -C \"$x\" clone u", "git -C . mv", "tar -C .claude -xf a", "tar --directory=.link -xf a",
    "tar -C.. -xf a", "make -C .claude", "curl -o", "curl -so", "find .claude -exec rm", "GIT_TRACE=.claude/skills/new git", "./cat", "find sub -exec rm -r", "find .claude -maxdepth 0 -exec touch", "git rm --cached", "sed \"$x\"", "git add", "git status", "cat", "ls", "sed -i s/a/b/",
];

const PLACES: &[&str] = &[
    "skills", "skills/s", "./skills", "skills/s/SKILL.md", ".claude", ".claude/", ".claude/skills", "./.claude/skills/s", ".claude/skills/kept", ".claude/x", "../project/.claude/skills", "../project", "..", ".", "~", "~/x",
    "../plugin", "../plugin/kept", "plugin", "plugin/kept", "$x", "$x/skills", "\"$x/skills\"", "\"$d\"", "$d/s", ".cl*", ".cl*/skills", ".c?aude/sk*", "*", ".*", "{.claude,sub}/skills", "{a,.claude/skills/s}", "\"$PWD\"/.claude/skills",
    "$PWD/skills", "$(pwd)/.claude/skills/x", ".link", ".link/skills", ".link/skills/s", "in/data", "out/x", "out", "sub", "sub/x", "a", "b.txt", "sub/../.claude/skills", ".claude/../.claude/skills/s",
    "'.claude/skills'", ".clau\"de\"/skills", "kept", "--", "project/.claude/skills", "x y", "../.claude/skills", "../../plugin/kept",
    "${x%.md}", "${x%/*}", "${x##*/}/n", "${x#./}/skills", "${x:-.claude}/skills/n", "${y:-.claude/skills}", "{} ';'", "$1/n", "\"$1\"", "\"$d\"/n",
    "\"$(pwd -P)\"/.claude/sk*", "~+/.claude/skills/n", "--cached", "-- --cached", "{a,b,c,d,e}{a,b,c,d,e}{a,b,c,d,e}",
];

const BEHIND: &[&str] = &["", "", "", "", "", " > out/x", " > .claude/skills/new", " > skills/new", " >> ../plugin/kept", " 2>&1", " < in/data", " > \"$x/skills/new\"", " > .link/skills/x", " > .cl*/skills/new", " > \"$d\"/new", " > {.claude,}/skills/new"];

/// Options, and what else a word may become only when a command runs.
const BECOMING: &[&str] = &[
    "-rf", "-l", "-delete", "-fdx", "-n", "-e", "--cached", "clean", "--output=.claude/skills/new", "--target-directory=.claude/skills", "-t.claude/skills", "-o.claude/skills/new", "a .claude/skills", ".cl*", ".claude/skills/s", "x=.claude/skills",
];

const TAKERS: &[&str] = &[
    "rm", "rm -r", "cp", "cp -r", "mv", "ln", "tee", "touch", "find", "find .claude", "find sub -name x", "git", "git clean", "git clean -fd", "git clean -fdx -n", "git log -1", "git diff", "git rm -rf", "git -c a=b", "git --attr-source HEAD", "git -C sub", "xargs rm -rf", "chmod -R 0",
];

impl Grammar {
    /// A command one of whose words becomes something by a loop, a brace or a variable.
    fn becoming(&mut self) -> String {
        let (what, taker) = (self.pick(BECOMING), self.pick(TAKERS));
        let (one, two) = (self.pick(PLACES), self.pick(PLACES));
        match self.below(7) {
            0 => format!("for o in {what}; do {taker} \"$o\" {one}; done"),
            1 => format!("for o in '{what}'; do {taker} $o {one} {two}; done"),
            2 => format!("for o in '{what}'; do {taker} {one} $o; done"),
            3 => format!("{taker} {{{what},{one}}} {two}"),
            4 => format!("o='{what}'; {taker} $o {one}"),
            5 => format!("for x in a; do {taker} \"$x\" {what} {one}; done"),
            _ => format!("d=$(mktemp -d /nope/X); {taker} \"$d\"/{what} {one}"),
        }
    }

    /// Commands that remove, move, create and unpack in and around protected places.
    pub fn near_places(&mut self) -> String {
        let count = 1 + self.below(3);
        let mut text = self.pick(BEFORE).to_owned();
        for at in 0..count {
            if at > 0 {
                text.push_str(self.pick(&["; ", " && ", " || ", " | ", "\n", " & "]));
            }
            let mut one = self.pick(WRAPPERS).to_owned();
            one.push_str(self.pick(PROGRAMS));
            for _ in 0..=self.below(3) {
                one.push(' ');
                one.push_str(self.pick(PLACES));
            }
            one.push_str(self.pick(BEHIND));
            let shaped = match self.below(10) {
                0 => format!("({one})"),
                1 => format!("for d in .claude skills sub; do {one}; done"),
                2 => format!("if [ -d .claude ]; then {one}; fi"),
                3 => format!("bash -c '{one}'"),
                4 => format!("env -C .claude sh -c '{one}'"),
                5 => format!("git \"$({one})\""),
                6 => self.becoming(),
                _ => one,
            };
            text.push_str(&shaped);
        }
        text
    }
}
