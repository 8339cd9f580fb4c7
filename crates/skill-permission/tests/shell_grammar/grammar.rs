//! How commands are put together: lists, compounds, simple commands and words, one within another.
//! What they are made of by class of escape is in `fragments`.

use super::fragments::{self, CLASSES};

mod redirects;

/// A source of commands that is the same for the same seed.
pub struct Grammar(u64);

impl Grammar {
    pub fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// A command line.
    pub fn command(&mut self) -> String {
        let mut text = self.list(3);
        if self.chance(12) {
            text = self.accident(&text);
        }
        text
    }

    /// A list of entries, most of them such as authors write.
    pub fn entries(&mut self) -> String {
        let mut text = String::new();
        for _ in 0..=self.below(6) {
            text.push_str(self.pick(&[
                "Bash(git:*)", "Read", "Bash(npm run test:*)", "Bash(*x*y*z*:*)", "Bash(find:*)", "Write(out/**)",
                "Read(**/{a,b}/[a-z]*)", "mcp__a__*", "Bash(a, b)", "Bash(", "Bash())", "WebFetch(domain:*.x.org)",
                "*", "Skill(x *)", "shell_exec(command:git *)", "Bash(FOO=1 git *)", "Bash('a b' *)", "Bash(a*a*a*a*a*a*a*b)",
                "Read({a,{b,{c,d}}}/**/**/**/x)", "my_tool(a:b*,c:*d)", "Bash(\"x", "Task (x)", "'Read Write'", "stitch*:*",
            ]));
            text.push_str(self.pick(&[" ", ", ", "\n", ",", ""]));
        }
        if self.chance(20) { self.accident(&text) } else { text }
    }

    /// A command, or what is left of many of them, up to 64 KiB.
    pub fn anything(&mut self) -> String {
        let mut text = self.command();
        for _ in 0..self.below(5) {
            let times = 1 + self.below(300);
            text = match self.below(6) {
                0 => text.repeat(times),
                1 => {
                    let open = self.pick(&[
                        "$(", "\"$(", "`", "(", "{ ", "[[ ", "${x:-", "if ", "case x in a) ", "<(", "bash -c '", "\"", "'", "git <<E\n",
                        "eval ", "$((", "for i in ", "! ", "a=", "\\", "{a,", "timeout 5 ", "[", ">", "find . -exec ",
                    ]);
                    open.repeat(times) + &text
                }
                2 => text.clone() + &self.pick(&[")", "\"", "'", "}", ";", "\n", "; done", "; fi", " ]]", "\nE\n", "`"]).repeat(times),
                3 => self.accident(&text),
                4 => format!("git $({text}) \"$({text})\""),
                _ => format!("bash -c '{}'", text.replace('\'', "'\\''")),
            };
            if text.len() > 64 * 1024 {
                let end = (0..=64 * 1024).rev().find(|at| text.is_char_boundary(*at));
                text.truncate(end.unwrap_or(0));
            }
        }
        text
    }

    fn next(&mut self) -> u64 {
        // SplitMix64.
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    pub(super) fn below(&mut self, n: usize) -> usize {
        usize::try_from(self.next() % n as u64).unwrap()
    }

    fn chance(&mut self, percent: usize) -> bool {
        self.below(100) < percent
    }

    pub(super) fn pick<'a>(&mut self, from: &[&'a str]) -> &'a str {
        from[self.below(from.len())]
    }

    fn list(&mut self, depth: usize) -> String {
        let mut text = self.item(depth);
        while self.chance(35) {
            let between = self.pick(&[
                "; ", " && ", " || ", " | ", " && ", " | ", "\n", " & ", " |& ", ";", " &&\n",
                " |\n",
            ]);
            if text.ends_with('\n') {
                text.push_str(&self.item(depth));
            } else {
                text = format!("{text}{between}{}", self.item(depth));
            }
        }
        text
    }

    fn item(&mut self, depth: usize) -> String {
        if self.chance(12) {
            return self.escape(depth);
        }
        if depth == 0 || self.chance(75) {
            return self.simple(depth);
        }
        let inner = self.list(depth - 1);
        let other = self.list(depth - 1);
        let word = self.word(depth - 1);
        let end = if inner.ends_with('\n') { "" } else { "; " };
        let redirect = self.redirect(depth);
        match self.below(16) {
            0 | 1 => format!("({inner}){redirect}"),
            2 => format!("{{ {inner}{end}}}{redirect}"),
            3 | 4 => format!("if {inner}{end}then {other}\nfi{redirect}"),
            5 => format!("if {inner}{end}then git a; else {other}\nfi"),
            6 | 7 => format!("for i in {word} b; do {inner}\ndone{redirect}"),
            8 => format!("while read -r x; do {inner}\ndone{redirect}"),
            9 => format!("while {inner}{end}do {other}\nbreak; done"),
            10 => format!("case {word} in a|{word}) {inner} ;; *) {other}\nesac"),
            11 => format!("! {inner}"),
            12 => format!("time {inner}"),
            13 => format!("[[ {word} == {word} ]] && {inner}"),
            14 => format!("[[ -n {word} ]] || {inner}"),
            _ => {
                let hostile = self.pick(&[
                    "f() { rm x; }; f", "function git { rm x; }; git a", "((PATH=3)); git a",
                    "for PATH in sub; do git a; done", "coproc rm x",
                    "select PATH in sub; do git a; break; done",
                    "for ((i=0; i<1; i++)); do git a; done", "alias git=rm\ngit a",
                    "select x in a; do rm x; break; done", "time PATH=sub git a",
                    "trap 'rm x' EXIT", "exec > canary", "exec 3< canary; cat <&3",
                ]);
                hostile.to_owned()
            }
        }
    }

    /// One attempt of some class of escape, with random commands, words and texts in its gaps.
    fn escape(&mut self, depth: usize) -> String {
        let class = CLASSES[self.below(CLASSES.len())];
        let mut text = self.pick(class).to_owned();
        while let Some(at) = text.find('\u{1}') {
            let kind = text.as_bytes()[at + 1];
            let filled = match kind {
                b'c' => self.list(depth.saturating_sub(1)),
                b's' => self.simple(depth.saturating_sub(1)),
                b'w' => self.word(depth.min(1)),
                // A text between single quotes.
                b'q' => self.list(depth.saturating_sub(1)).replace('\'', "'\\''"),
                b'n' => self.pick(fragments::NAMES).to_owned(),
                b'v' => self.pick(fragments::VALUES).to_owned(),
                b'd' => self.pick(fragments::MOVES).to_owned(),
                b'u' => self.pick(fragments::USES).to_owned(),
                _ => unreachable!("an unknown gap in {text:?}"),
            };
            text.replace_range(at..at + 2, &filled);
        }
        text
    }

    fn simple(&mut self, depth: usize) -> String {
        let mut text = String::new();
        if self.chance(6) {
            text.push_str(self.pick(fragments::BEFORE));
        }
        let arguments = self.below(4);
        match self.below(100) {
            0..40 => text.push_str("git"),
            40..48 => {
                text.push_str(self.pick(&["npm run test", "npm run test:unit", "npm run test --"]));
            }
            48..51 => return text + self.pick(&["ls", "ls | head -3", "ls > out/l"]),
            51..56 => text.push_str(self.pick(fragments::PROGRAMS)),
            56..66 => return text + &self.neutral(depth),
            66..73 => return text + &self.filter(),
            73..85 => return text + &self.wrapper(depth),
            85..89 => return text + &self.assignment(depth),
            89..92 => return text + &self.heredoc(),
            _ => text.push_str(self.pick(&[
                "rm", "curl", "./git", "$x", "\"gi\"t", "g\\it", "{git,rm}", "~/evil", "sudo git",
                "node -e", "evil", "sub/git", "\"$x\"", "`git`", "g*t", "$(git x)", "'git'",
                "gitk", "tee", "sh2", "xargs rm", "./evil", ". ./evil", "source evil",
                "make", "''", "git=rm", "sed -n p", "awk 1", "npm", "npm install", "ls -l",
                "python3 -c", "env", "command rm", "builtin eval",
            ])),
        }
        for _ in 0..arguments {
            text.push(' ');
            text.push_str(&self.word(depth));
        }
        text + &self.redirect(depth)
    }

    fn neutral(&mut self, depth: usize) -> String {
        let word = self.word(depth.min(1));
        match self.below(22) {
            0..4 => format!("echo {word}"),
            4 => format!("printf '%s\\n' {word}"),
            5 => format!("test -f {word}"),
            6 => format!("[ {word} = a ]"),
            7 => format!("[ -n {word} ]"),
            8 => format!(
                "cd {}",
                self.pick(&[
                    "sub", "./sub", "..", "/", "~", "-", "$x", "", "sub/..", "sub/../..",
                    "out"
                ])
            ),
            9 => format!("export CI={word}"),
            10 => format!(
                "read -r {}",
                self.pick(&["x", "y", "PATH", "x y", "'a[$(evil)]'", "$x"])
            ),
            11 => format!(
                "set {}",
                self.pick(&[
                    "-e", "-eu", "-euo pipefail", "-x", "-a", "-o nounset", "--",
                    "-f"
                ])
            ),
            12 => format!("exit {}", self.pick(&["0", "1", "$?", "'a[$(evil)]'", ""])),
            13 => format!("printf {word} a"),
            14 => format!("test {word} {word}"),
            15 => self
                .pick(&[
                    "true", ":", "false", "pwd", "wait", "break", "continue", "command -v git",
                ])
                .to_owned(),
            16 => self.pick(fragments::STEERING).to_owned(),
            17 => format!(": {word}"),
            18 => format!("readonly y={word}"),
            19 => "echo $((1 + 2))".to_owned(),
            20 => format!("shift {}", self.pick(&["1", "x", "", "$x"])),
            _ => format!("cd sub && git {word}"),
        }
    }

    fn filter(&mut self) -> String {
        let input = self.pick(&["git a | ", "git a 2>&1 | ", "echo x | ", "", "git a && "]);
        format!("{input}{}", self.pick(fragments::PIPED))
    }

    fn wrapper(&mut self, depth: usize) -> String {
        let inner = self.simple(depth.saturating_sub(1));
        let listed = self.list(depth.saturating_sub(1));
        let quoted = format!("'{}'", listed.replace('\'', "'\\''"));
        let front = match self.below(20) {
            0 | 1 => return format!("bash -c {quoted}"),
            2 => return format!("sh -ec {quoted} _ {}", self.word(0)),
            3 => return format!("eval {quoted}"),
            4 => return format!("bash -c \"{}\"", listed.replace(['"', '\\'], "")),
            5 => return format!("find . -exec {inner} {{}} \\;"),
            6 => {
                return format!(
                    "find {} {}",
                    self.word(0),
                    self.pick(&[
                        "-name x", "-delete", "-exec rm {} +", "-exec git a {} +", "-name \"$x\"",
                        "-fprint canary",
                        "-exec {} \\;"
                    ])
                );
            }
            7 => return format!("dash -euo pipefail -c {quoted}"),
            8 => {
                return format!(
                    "bash {} {quoted}",
                    self.pick(&[
                        "-xc", "-ic", "--rcfile canary -ic", "-O extglob -c", "-c --",
                        "-oc"
                    ])
                );
            }
            _ => self.pick(fragments::WRAPPERS),
        };
        format!("{front}{inner}")
    }

    fn assignment(&mut self, depth: usize) -> String {
        let name = self.pick(&[
            "x", "y", "file", "x", "x", "PATH", "IFS", "BASH_ENV", "http_proxy", "X", "x[0]", "CI",
        ]);
        let value = match self.below(8) {
            0 => "'a[$(evil)]'".to_owned(),
            1 => "rm".to_owned(),
            2 => "\"-exec rm\"".to_owned(),
            3 => "'; rm x'".to_owned(),
            4 => "(rm a)".to_owned(),
            _ => self.word(depth.min(1)),
        };
        format!("{name}={value}; git $x")
    }

    fn word(&mut self, depth: usize) -> String {
        match self.below(if depth == 0 { 80 } else { 100 }) {
            0..30 => self
                .pick(&[
                    "a", "log", "--oneline", "-m", "x.txt", "HEAD~1", "--", "-n5", "src/a", "a=b",
                    "--x=y", "@{u}", "a:b", "{}", "+", "\\;", "%s", "^", "!",
                ])
                .to_owned(),
            30..45 => self
                .pick(&[
                    "'a b'", "\"a b\"", "'it'\\''s'", "a\\ b", "\"a\\\"b\"", "''", "\"\"",
                    "'$(rm x)'", "\"\\$(rm x)\"", "'a;b'", "\"a'b\"", "'a\nb'", "\\$x", "\"`\\`\"",
                ])
                .to_owned(),
            45..60 => self
                .pick(&[
                    "$x", "\"$x\"", "${x}", "\"${x:-a}\"", "$1", "\"$@\"", "$?", "${#x}",
                    "${x%.*}", "$((1+2))", "*", "in/*", "{a,b}", "~", "[ab]", "$HOME", "a$x", "${@}", "$@", "$*", "\"$*\"", "\"a $@\"",
                    "\"${@}\"", "$!", "$$", "$#", "\"$2\"", "./*", "-*", "$OUT", "\"$OUT/x\"", "${x:0:1}", "${x:?no}", "${x:+a b}",
                    "$((i+1))", "../*", ".?/x",
                ])
                .to_owned(),
            60..68 => self
                .pick(&[
                    "'a[$(evil)]'", "$'\\'' '; evil #'", "\"${x@P}\"", "${!x}", "$((x))", "-v",
                    "${x:=rm}", "${x[$(evil)]}", "$[x]", "${x:1}", "$\"x\"", "\"${x:-$(rm x)}\"",
                    "{a,$(rm x)}", "$((a[$(evil)]))", "#x", "\\\n", "a\\\nb", "`rm \\`evil\\``", "~+",
                    "~evil", "${x-`rm`}", "${x/a/$(rm)}", "$(rm x)", "`rm x`", "<(rm x)",
                    "\"$(rm x)\"", "-exec", "-delete", "$'\\x24(evil)'",
                ])
                .to_owned(),
            68..80 => self
                .pick(&["a", "b", "status", "-x", "--y", "1", "path/to"])
                .to_owned(),
            80..88 => format!("$({})", self.list(depth - 1)),
            88..94 => format!("\"a $({}) b\"", self.list(depth - 1)),
            94..97 => format!("`{}`", self.simple(0).replace('`', "")),
            _ => format!("<({})", self.list(depth - 1)),
        }
    }

    /// Deletes, doubles or inserts a character or two, as typing and bad escaping do.
    fn accident(&mut self, text: &str) -> String {
        let mut chars: Vec<char> = text.chars().collect();
        for _ in 0..=self.below(2) {
            if chars.is_empty() {
                break;
            }
            let at = self.below(chars.len());
            match self.below(3) {
                0 => drop(chars.remove(at)),
                1 => chars.insert(at, chars[at]),
                _ => {
                    let with = self.pick(&[
                        "'", "\"", "\\", "$", "`", "(", ")", "{", "}", "<", ">", "|", "&", ";",
                        "#", " ", "\n", "~", "!", "=", "[", "*", "-",
                    ]);
                    chars.insert(at, with.chars().next().unwrap());
                }
            }
        }
        chars.into_iter().collect()
    }
}
