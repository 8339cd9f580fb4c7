//! What entries for reading grant of the shell's programs, and each way in which one of these could
//! do more.

use serde_json::json;

use crate::scene::{Scene, scene};
use crate::vocabulary::Language;

/// A list in an agent that reads by its shell. `/p/away` leads to `/etc`, `/p/src/l.rs` to a file of
/// another directory, and the directories lead to themselves.
fn under(list: &str) -> Scene {
    denying(list, &[])
}

fn denying(list: &str, denied: &[&str]) -> Scene {
    scene()
        .skill("pdf", Some(list), denied)
        .shell(Language::BashOrZsh, false)
        .reading_by_shell()
        .on(&[
            ("/p", "/p"),
            ("/p/src", "/p/src"),
            ("/p/docs", "/p/docs"),
            ("/", "/"),
            ("/p/away", "/etc"),
            ("/p/src/l.rs", "/h/.ssh/id"),
            ("/p/src/root", "/"),
            ("/p/src/env", "/proc/self/environ"),
            ("/p/src/round", ""),
        ])
}

fn all_run(scene: &Scene, commands: &[&str]) {
    let refused: Vec<_> = commands
        .iter()
        .filter(|one| !scene.runs(one))
        .map(|one| scene.refusal("shell_exec", &json!({ "command": one })))
        .collect();
    assert!(refused.is_empty(), "{refused:#?}");
}

fn none_runs(scene: &Scene, commands: &[&str]) {
    let ran: Vec<_> = commands.iter().filter(|one| scene.runs(one)).collect();
    assert!(ran.is_empty(), "{ran:#?}");
}

#[test]
fn reading_programs_pass_under_read_entries() {
    let mixed = under(
        "Read, Edit, Grep, Glob, Bash(git:*), Bash(npm test:*), Bash(npm run:*), Bash(python3 -m pytest:*)",
    );
    all_run(
        &mixed,
        &[
            "grep -rn \"needle\" src/ --include=*.ts | head -20",
            "grep -rn 'foo' src --include=\"*.ts\" --include='*.tsx'",
            "grep -rn foo src --include=*.{ts,tsx} --exclude-dir=node_modules",
            "grep -rn foo src --include '*.ts' --exclude-dir node_modules",
            "grep -rnE \"a|b\" . 2>/dev/null | sort | uniq -c | sort -rn | head -5",
            "grep -n -A 3 -B3 main src/main.rs",
            "grep -rl foo .",
            "grep -c x README.md",
            "grep -rn x src || true",
            "grep -n needle ./*.md",
            "find . -name \"*.test.js\" -not -path \"*/node_modules/*\"",
            "find src -type f | head",
            "find . -type f \\( -name '*.ts' -o -name '*.js' \\) ! -path './dist/*' | wc -l",
            "find . -maxdepth 2 -type d -name src -print",
            "find . -newermt 2024-01-01 -size +10k -mtime -3 -printf '%p %s\\n'",
            "ls",
            "ls -la",
            "ls -la src && cat package.json",
            "ls *.md",
            "ls -1 src/*.rs src",
            "ls src -la",
            "cat a.txt b.txt",
            "cat -n src/main.rs",
            "cat src/*.rs",
            "cat README.md 2>/dev/null || true",
            "cat < README.md",
            "cat ./-n",
            "cat -- -n",
            "cat ~/notes.md",
            "sed -n '10,40p' src/x.ts",
            "sed -n '10,40p;41q' src/x.ts",
            "sed -n -e 1p -e '$p' README.md",
            "sed -n '/fn main/,/^}/p' src/main.rs | head -40",
            "head -50 README.md",
            "head -n 50 README.md",
            "head -c100 README.md",
            "tail -n +5 README.md",
            "tail -20 README.md",
            "wc -l src/*.rs",
            "wc -l ./*.rs",
            "nl -ba src/main.rs | sed -n '1,20p'",
            "rg -n foo src -g '*.rs'",
            "rg foo",
            "rg --files -g '*.md' | head",
            "rg -uu -tpy 'def main' -A 3 --no-heading .",
            "git log | rg foo | head",
            "jq '.scripts' package.json",
            "jq -r '.a | keys[]' package.json",
            "jq -r --arg x y '.[$x]' package.json",
            "jq 'getpath([\"a\"])' package.json",
            "cat package.json | jq -r .version",
            "tree -L 2 -I node_modules",
            "tree src --dirsfirst -a",
            "cd src && ls",
            "cd src && cat main.rs && grep -rn x .",
            "git diff --stat | cat",
            "git diff > /dev/null; git status | grep -v x",
            "stat -c %s README.md",
            "stat README.md src",
            "file src/main.rs ./*.png",
            "/bin/cat README.md && /usr/bin/find . -name x",
            "command cat README.md",
            "\\cat README.md",
            "timeout 10 grep -rn x .",
            "X=src; cat $X/main.rs",
            "if grep -q x README.md; then echo yes; fi",
            "for i in 1 2; do cat README.md; done",
            "(cd src; wc -l main.rs)",
            "n=$(wc -l < README.md); echo \"$n\"",
            "echo \"$(cat VERSION)\"",
            "npm test 2>&1 | tail -20",
            "git log --oneline | grep x | head -5",
            "grep x README.md /dev/null",
        ],
    );
}

#[test]
fn each_entry_grants_what_its_tool_shows() {
    let contents = [
        "cat a",
        "head a",
        "tail a",
        "wc -l a",
        "nl a",
        "file a",
        "sed -n 1p a",
        "jq . a",
    ];
    let matches = ["grep -rn x .", "grep x a", "rg x"];
    let names = ["ls", "find . -name x", "tree", "stat a"];
    let read = under("Read");
    all_run(&read, &contents);
    all_run(&read, &matches);
    none_runs(&read, &names);
    let grep = under("Grep");
    none_runs(&grep, &contents);
    all_run(&grep, &matches);
    none_runs(&grep, &names);
    for list in ["Glob", "LS"] {
        let finding = under(list);
        none_runs(&finding, &contents);
        none_runs(&finding, &matches);
        all_run(&finding, &names);
    }
    for list in ["Write", "Edit", "Bash(git:*)", "WebFetch"] {
        let other = under(list);
        none_runs(&other, &contents);
        none_runs(&other, &names);
    }
}

#[test]
fn in_other_hosts_read_entries_grant_no_program() {
    let chibi = scene().active("Read, Grep, Glob, LS, Bash(git:*)");
    none_runs(&chibi, &["cat a", "ls", "grep -rn x .", "find . -name x"]);
    assert!(chibi.runs("git log | grep x"));
}

#[test]
#[expect(clippy::too_many_lines, reason = "it is a table")]
fn other_options_make_a_command_ordinary() {
    let all = under("Read, Grep, Glob, LS");
    none_runs(
        &all,
        &[
            "sed -i s/a/b/ f",
            "sed -ni 1p f",
            "sed -n 1p -i f",
            "sed -n 1p f -i",
            "sed --in-place=.b 1p f",
            "sed -n 'w x' f",
            "sed -n '1w x' f",
            "sed -n '1W x' f",
            "sed -n 'r /etc/passwd' f",
            "sed -n '1R x' f",
            "sed -n '1e id' f",
            "sed -n e f",
            "sed 's/a/b/e' f",
            "sed 's/a/b/w x' f",
            "sed -f x f",
            "sed -nf x f",
            "sed --file=x f",
            "sed -n -e 1p -e 'w x' f",
            "sed -n --expression='w x' f",
            "sed -n -s 1p f",
            "sed -n '1p;w x' f",
            "sed 1p f -e '1w x'",
            "sed",
            "find . -delete",
            "find . -exec rm {} \\;",
            "find . -exec cat {} +",
            "find . -execdir rm {} \\;",
            "find . -ok rm {} \\;",
            "find . -okdir rm {} \\;",
            "find . -fprint x",
            "find . -fprint0 x",
            "find . -fprintf x %p",
            "find . -fls x",
            "find -files0-from x",
            "find -L . -name x",
            "find -H . -name x",
            "find . -follow",
            "find . -newer /etc/passwd",
            "find . -newermm /etc/passwd",
            "find . -samefile /etc/passwd",
            "find . -rm",
            "find -f /etc -name x",
            "find -D exec .",
            "find . -name *.ts",
            "find * -name x",
            "find . -name",
            "rg --pre ./evil x",
            "rg --pre=./evil x",
            "rg --pre-glob '*' x",
            "rg --hostname-bin=./evil x",
            "rg -z x",
            "rg --search-zip x",
            "rg -nz x",
            "rg -f /etc/passwd .",
            "rg -nf /etc/passwd",
            "rg --file=/etc/passwd",
            "rg --ignore-file=/etc/passwd x",
            "rg --files-from x",
            "rg -L x",
            "rg --follow x",
            "rg -nL x",
            "grep -f /etc/passwd f",
            "grep -nf /etc/passwd f",
            "grep --file=/etc/passwd f",
            "grep -R x .",
            "grep --dereference-recursive x .",
            "grep --exclude-from=/etc/passwd -r x .",
            "grep --exclude-f=x -r x .",
            "grep --include-from=x -r x .",
            "grep -d recurse x .",
            "grep --directories=recurse x .",
            "grep --filter='*:evil' -r x .",
            "grep --pager=evil -r x .",
            "grep --view=evil -r x .",
            "grep --config=x -r x .",
            "grep --save-config -r x .",
            "grep -S x .",
            "grep -z x f",
            "grep x *",
            "grep x *.md",
            "grep",
            "jq -f x f",
            "jq -rf x f",
            "jq --from-file x f",
            "jq -L /etc . f",
            "jq --slurpfile a /etc/passwd . f",
            "jq --rawfile a /etc/passwd . f",
            "jq --argfile a /etc/passwd . f",
            "jq 'import \"a\" as a; .' f",
            "jq 'include \"a\"; .' f",
            "jq env f",
            "jq '$ENV.HOME' f",
            "jq input_filename f",
            "jq --args . f",
            "jq",
            "file -m x f",
            "file -C",
            "file -C -m x",
            "file -f x",
            "file -bf x",
            "file -z f",
            "file -Z f",
            "file -s f",
            "file --magic-file=x f",
            "file --files-from=x",
            "file *",
            "tree -o x",
            "tree -ao x",
            "tree --output=x",
            "tree --fromfile x",
            "tree -R -L 1 -H .",
            "tree -H .",
            "tree -l",
            "tree -La 2",
            "tree -L2",
            "tree --gitfile=x",
            "tree --infofile=x",
            "wc --files0-from=x",
            "wc --files0=x",
            "wc --files0-from x",
            "tail -f x",
            "tail -F x",
            "tail --follow x",
            "tail --pid=1 x",
            "head --unknown x",
            "ls -L",
            "ls -lH x",
            "ls --dereference",
            "ls -LR",
            "ls -D",
            "stat -L x",
            "stat --cached=never x",
            "cat --help",
            "nl --unknown x",
            "less x",
            "more x",
            "bat x",
            "sort x",
            "awk 1 x",
            "touch x",
            "./cat x",
            "src/cat x",
            "/tmp/cat x",
            "../bin/cat x",
            "cat2 x",
        ],
    );
}

#[test]
fn every_word_must_be_known() {
    let all = under("Read, Grep, Glob, LS");
    none_runs(
        &all,
        &[
            "cat $X",
            "cat \"$X\"",
            "cat $(git ls-files)",
            "cat \"$(git ls-files)\"",
            "cat `id`",
            "cat ${X:-a}",
            "cat src/$X",
            "cat src/$X/*.rs",
            "cat ~root/x",
            "cat ~+/x",
            "cat src/[ab]/../../../etc/passwd",
            "cat {a,../../etc}/passwd",
            "cat {a,b}.md",
            "cat {/proc/self/environ,}",
            "wc {--files0-from=/proc/self/environ,}",
            "tail {-f,a.txt}",
            "ls {/proc,}",
            "cat */environ",
            "cat **/environ",
            "cat s*/*.rs",
            "wc *",
            "tail *",
            "cat =ls",
            "cat <(id)",
            "grep \"$X\" f",
            "grep $X f",
            "grep -e \"$X\" f",
            "grep --include=$X -r x .",
            "grep --include=\"$(id)\" -r x .",
            "grep --regexp=*a /etc/passwd f",
            "grep *.md -r .",
            "grep -m $X x f",
            "find . -name \"$X\"",
            "find $X",
            "find -$X",
            "sed -n \"${X}p\" f",
            "jq \"$X\" f",
            "head -n $X f",
            "head -$X f",
            "ls -$X",
            "ls -*",
            "ls --*",
            "tree -L \"$X\"",
            "find . -name x | xargs cat",
            "find . | xargs -I{} cat {}",
            "echo /proc/self/environ | xargs cat",
            "for f in a b; do cat \"$f\"; done",
            "$CAT x",
            "\"$X\" x",
        ],
    );
}

#[test]
fn no_assignment_may_precede_a_reading_program() {
    let all = under("Read, Grep, Glob, LS");
    none_runs(
        &all,
        &[
            "GREP_OPTIONS=-R grep x .",
            "RIPGREP_CONFIG_PATH=x rg x",
            "LC_ALL=C grep -r x .",
            "X=1 cat f",
            "export RIPGREP_CONFIG_PATH=x; rg x",
            "export POSIXLY_CORRECT=1; cat f",
            "PATH=.:$PATH cat f",
            "PATH=.; cat f",
            "env RIPGREP_CONFIG_PATH=x rg x",
            "cat() { rm x; }; cat f",
            "function cat { rm x; }; cat f",
            "alias cat=rm; cat f",
            "eval 'alias cat=rm'; cat f",
            "hash -p ./evil cat; cat f",
            "enable -f ./evil cat; cat f",
            ". ./x; cat f",
            "set -a; X=1; cat f",
        ],
    );
}

#[test]
fn nothing_is_written_but_what_an_entry_for_writing_covers() {
    let reading = under("Read, Grep, Glob, LS");
    none_runs(
        &reading,
        &[
            "cat a > b",
            "cat a >> b",
            "ls &> b",
            "cat a | tee b",
            "find . > x",
            "echo x > f",
        ],
    );
    all_run(
        &reading,
        &["cat a > /dev/null", "cat a 2>&1", "cat a 2>/dev/null"],
    );
    let writing = under("Read, Write(out/**)");
    all_run(&writing, &["cat a > out/b"]);
    none_runs(&writing, &["cat a > b"]);
}

#[test]
fn only_what_an_entry_covers_is_shown() {
    let limited = under("Read(src/**), Grep(src/**), Glob(src/**)");
    all_run(
        &limited,
        &[
            "cat src/a.rs",
            "cat src/x/../a.rs",
            "cat /p/src/a.rs",
            "cat ./src/a.rs src/b.rs",
            "cd src && cat a.rs",
            "cd src && grep -rn x .",
            "cd src && ls",
            "cat < src/a.rs",
            "grep x < src/a.rs",
            "cat src/a.rs | rg x",
            "grep -rn x src",
            "grep -rn x src/",
            "grep x src/a.rs",
            "rg x src",
            "ls src",
            "ls -R src/x",
            "ls src/*.ts",
            "cat src/*.ts",
            "cat src/x/*",
            "find src -name x",
            "tree src",
            "stat src/a.rs",
            "head -5 src/a.rs",
            "sed -n 1p src/a.rs",
            "jq . src/a.json",
        ],
    );
    none_runs(
        &limited,
        &[
            "cat /etc/passwd",
            "cat README.md",
            "cat src/../README.md",
            "cat src/a.rs README.md",
            "cat src/a.rs -n README.md",
            "cat src/a.rs -n",
            "head src/a.rs -n /etc/passwd",
            "cat ~/x",
            "cat < README.md",
            "cat src/l.rs",
            "cat src/*.rs",
            "cat src/l*",
            "cat src/round",
            "cat src/round/x",
            "cat src/*/a.rs",
            "cat src/{a,b}.rs",
            "cat *",
            "cat *.md",
            "cd src && cat *.rs",
            "cd src && ls *",
            "ls src/.*",
            "grep -rn x .",
            "grep -rn x",
            "grep x",
            "grep x -r src/root",
            "git log | grep -r x",
            "rg x",
            "rg --files",
            "rg x < /dev/null",
            "git log | rg x < /dev/null",
            "git log | rg --files",
            "{ rg x; } < /dev/null",
            "git log | (rg x)",
            "ls",
            "ls ..",
            "ls -la /",
            "ls src -la",
            "find",
            "find . -name x",
            "find -name x",
            "find src -name x .",
            "find src /etc -name x",
            "find src -name x /etc",
            "tree",
            "tree -L 2",
            "stat README.md",
            "file README.md",
            "wc -l README.md",
            "cat away/passwd",
            "cd src/x/../.. && cat README.md",
            "grep -e x README.md",
            "grep x src/a.rs -e y README.md",
            "rg --files README.md",
            "jq . README.md",
            "jq --arg a b . README.md",
            "sed -n 1p README.md",
            "sed -e 1p README.md",
            "sed -n 1p src/a.rs -e /etc/p",
            "stat -f /etc/passwd src/a.rs",
        ],
    );
    let by_name = under("Read(*.md)");
    all_run(&by_name, &["cat a.md x/b.md", "grep x a.md"]);
    none_runs(
        &by_name,
        &["grep -r x .", "grep -rn x docs", "cat a.rs", "cat docs/*"],
    );
}

#[test]
fn what_the_kernel_makes_up_is_refused() {
    let all = under("Read, Grep, Glob, LS");
    none_runs(
        &all,
        &[
            "cat /proc/self/environ",
            "cat ../proc/self/environ",
            "cat //proc/self/environ",
            "cat src/../../proc/1/environ",
            "cat src/env",
            "cat src/env*",
            "cat src/round",
            "cat src/root/proc/self/environ",
            "cat /dev/mem",
            "cat /dev/stdin",
            "cat < /proc/self/environ",
            "cat < src/env",
            "cat /sys/kernel/x",
            "cat /p*/self/environ",
            "cat /{proc,}/self/environ",
            "cat /proc/self/environ /dev/null",
            "grep -r x /",
            "grep -r x src/root",
            "grep -r '' /proc/self",
            "rg x /",
            "find / -name x",
            "find /proc -name x",
            "ls /proc",
            "ls -R /",
            "ls /dev",
        ],
    );
    all_run(
        &all,
        &[
            "cat /etc/hosts",
            "grep -rn x /etc",
            "cat a /dev/null",
            "ls /h",
        ],
    );
}

#[test]
fn denials_cover_what_a_program_shows() {
    let denied = denying("Read, Grep, Glob", &["Read(./secret)", "Bash(tail:*)"]);
    none_runs(
        &denied,
        &[
            "cat secret",
            "cat ./secret",
            "cat src/../secret",
            "cat s*",
            "cat < secret",
            "grep x secret",
            "grep -rn x .",
            "rg x",
            "rg x /p",
            "tail -5 a",
            "cat a | tail -5",
            "wc -l secret",
            "sed -n 1p secret",
        ],
    );
    all_run(&denied, &["cat a", "grep -rn x src", "ls", "head -5 a"]);
    let dotted = denying("Read, Grep", &["Read(.env)", "Read(docs/**)"]);
    none_runs(
        &dotted,
        &[
            "cat .env",
            "cat src/.env",
            "grep -r x src",
            "cat docs/*.md",
            "grep -r x docs",
        ],
    );
    all_run(&dotted, &["cat src/a", "grep x src/a"]);
    let names = denying("Read, Grep, Glob", &["Glob(docs/**)"]);
    none_runs(&names, &["ls docs", "find . -name x", "ls"]);
    all_run(&names, &["cat docs/a", "ls src"]);
    let all = denying("Read, Grep, Glob", &["Read"]);
    none_runs(&all, &["cat a", "grep x a"]);
    let shell = denying("Read, Grep, Glob", &["Bash"]);
    none_runs(&shell, &["cat a", "ls"]);
}

#[test]
fn the_refusal_says_what_would_be_granted() {
    let refusal = |list: &str, command: &str| {
        under(list).refusal("shell_exec", &json!({ "command": command }))
    };
    for (list, command, words) in [
        (
            "Read, Glob",
            "find . -delete",
            "`-delete` is not among the options of `find` that only read",
        ),
        (
            "Read, Glob",
            "find . -name x -exec rm {} +",
            "'-exec' is not among the options of 'find'",
        ),
        ("Glob", "cat a", "only a 'Read' entry gives 'cat'"),
        ("Read", "ls", "only a 'Glob' or 'LS' entry gives 'ls'"),
        (
            "Read(src/**)",
            "cat /etc/passwd",
            "no 'Read' entry covers '/etc/passwd'",
        ),
        ("Grep", "grep x *", "write './*' for '*'"),
        ("Read", "touch x", "no entry grants it"),
    ] {
        let message = refusal(list, command);
        assert!(
            message.contains(&words.replace('`', "'")),
            "{command}: {message}"
        );
    }
}
