//! Each sentence about protected places (docs/spec/restriction.md#operands), with what it refuses and
//! what it lets pass.

use super::indirect::{refused, runs};

/// What a sentence says, what is refused for it, and what passes.
type Sentence = (
    &'static str,
    &'static [&'static str],
    &'static [&'static str],
);

#[rustfmt::skip]
const SENTENCES: &[Sentence] = &[
    ("operands of writing programs and of those that do not only read",
        &["tee ~/.chibi/x", "mkdir -p ~/.chibi/x", "python3 x.py ~/.chibi/x"],
        &["tee ~/work/x", "cat ~/.chibi/x", "python3 x.py ~/work/x"]),
    ("targets of redirections", &["ls > ~/.chibi/x", "ls >> .claude/skills/x"], &["ls > ~/work/x", "ls > .claude/x"]),
    ("quotes", &["rm ~/'.chi'\"bi\"/x", "rm ~/.ch\\ibi/x"], &["rm '$HOME/.chibi/x'", "rm \".ch'ibi'/x\""]),
    ("the home directory", &["rm $HOME/.chibi/x", "rm ~/.chibi/x", "rm \"${HOME}\"/.chibi/x"], &["rm $HOME/work/x"]),
    ("known values", &["d=~/.chibi; rm $d/x", "if a; then d=~/.chibi; fi; rm $d/x", "sh -c 'd=~/.chibi; rm $d/x'"], &["d=~/work; rm $d/x"]),
    ("directories that are entered", &["cd ~ && rm -rf .chibi", "if a; then cd ~; fi; rm -rf .chibi", "for i in 1; do cd ~; rm -rf .chibi; done", "pushd ~; rm -rf .chibi"],
        &["cd ~ && rm -rf work", "pushd sub; rm -rf x"]),
    ("links on disk", &["rm link/skills/x"], &["rm out/skills/x"]),
    ("parts of a word", &["dd of=$HOME/.chibi/x", "curl -o$HOME/.chibi/x u", "a x:$HOME/.chibi", "a b,$HOME/.chibi", "a b@$HOME/.chibi", "a $x:$HOME/.chibi"],
        &["dd of=$HOME/work/x", "curl -o$HOME/work/x u", "a x:$HOME/work", "dd if=$HOME/.chibi/x of=y"]),
    ("globs, name by name", &["rm -rf ~/.chi*", "rm ~/.c?ibi/x", "rm ~/.[a-d]hibi/x"],
        &["rm -rf ~/chi*", "rm ~/.c?bi/x", "rm ~/*", "rm ~/.[a-d]hib/x", "a [url] [x"]),
    ("braces", &["rm ~/{a,.chibi}/x", "rm ~/.{a..d}hibi/x", "rm -rf {a,~/.chibi}"], &["rm ~/{a,b}/x", "a {1..3} {a..c}", "a {1..900}"]),
    ("what holds a place", &["rm -rf ~", "mv .claude x", "chmod -R 700 ~", "ln -s ~ x", "find ~ -delete", "rsync -a --delete x/ ~", "cp -r x/. .", "truncate -s0 ~"],
        &["rm -rf ~/work", "mv out x", "chmod -R 700 sub", "ln -s ~/work x", "find sub -delete", "cp x ~", "a ~"]),
    ("a redirection that is not known", &["ls > \"$F\"", "ls > $1", "ls >> \"$(cat f)\""],
        &["ls > \"$D/x\"", "t=$(mktemp); ls > \"$t\"", "for f in a b; do ls > $f; done", "for f in src/*.c; do ls > \"$f\"; done"]),
    ("what is not known reaches nothing", &["rm -rf ~/.chibi/$X", "rm ~/.chibi$X", "tee .claude/skills/\"$a\"/x"],
        &["rm \"$x\"", "rm -rf \"$x\"", "mv \"$a\" \"$b\"", "gh api -f a=$B", "docker tag a:$T b", "ssh u@$H", "gcc -I$X", "find . -name '*.tmp' | xargs rm", "rm -rf build/$X", "rm ~/\"$f\""]),
    ("the variables by which the host calls us", &["CHIBI_HOOK=on_start \"$x\"", "env CHIBI_TOOL_NAME=x \"$x\"", "export CHIBI_HOOK; $x"],
        &["grep -rn CHIBI_HOOK src", "rg CHIBI_TOOL_NAME= src", "git commit -m 'CHIBI_HOOK=x'"]),
];

#[test]
fn each_operand_rule_has_refused_and_allowed_examples() {
    for (sentence, bad, good) in SENTENCES {
        assert!(!bad.is_empty() && !good.is_empty(), "{sentence}");
        bad.iter().for_each(|command| refused(command));
        good.iter().for_each(|command| runs(command));
    }
}

#[test]
fn cost_grows_with_the_length_of_an_argument() {
    for unit in [
        "a=b:c,d@e/",
        "..,:=",
        "\"a\": [\"b/c.d\", {\"e\": 1}], ",
        "see http://x.org/a?b=c. ",
        "=~/x,",
        "w a/",
        "[",
        "{",
    ] {
        let text = unit.repeat(20_000 / unit.len());
        for program in ["gh x", "git commit -m", "python3 -c", "curl -d", "sed -n"] {
            if !(program == "sed -n" && unit.contains('w')) {
                runs(&format!("{program} '{text}'"));
            }
        }
    }
    refused(&format!("gh x '{},{}'", "a=b,".repeat(9000), "/h/.chibi/x"));
}
