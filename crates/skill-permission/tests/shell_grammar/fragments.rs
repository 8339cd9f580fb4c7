//! Attempts to run what is not granted, by the class of what a reader of commands may miss. A gap
//! is `\u{1}` and a letter: `c` a list of commands, `s` a simple command, `w` a word, `q` a list as
//! it stands between single quotes, `n` a variable's name, `v` a value, `d` a change of directory,
//! `u` a command for which the directory or a variable matters.

/// All classes, each as likely as another.
pub const CLASSES: &[&[&str]] = &[
    POSITIONAL, HEREDOCS, PARENTS, DIRECTORIES, EVALUATED, VALUES_THAT_RUN, NESTED, OPTIONS,
    CONSTANTS, FILTERS, NEUTRAL, OTHER_SHELLS, DENIED, READERS, READERS, INDIRECT,
];

/// Programs that the lists grant in some form, with operands that matter.
pub const PROGRAMS: &[&str] = &[
    "./scripts/run.sh", "./scripts/$x", "./scripts/*", "./scripts/../evil", "scripts/run.sh", "./scripts/sub/../../evil",
    "python3 scripts/x.py", "python3 scripts/../evil", "python3 ./scripts/x.py", "python3", "FOO=1 make", "FOO=1 make a",
    "FOO=2 make", "make FOO=1", "git a --dry-run", "git --dry-run", "git $x --dry-run", "ls in", "ls", "find", "find .",
    "find in -name", "./scripts/.*/evil", "./scripts/?/evil", "./scripts/..", "./scripts//run.sh", "./scripts/{run.sh,../evil}",
    "./scripts/\"$x\"", "./scripts/~", "./scripts/run.sh/../../evil",
];

/// What decides about later commands, or is meant to.
pub const STEERING: &[&str] = &[
    "test -v 'a[$(evil)]'", "printf -v 'a[$(evil)]' x", "let 'a[$(evil)]=1'", "typeset -i z; z='a[$(evil)]'", "x=-v; test \"$x\" 'a[$(evil)]'",
    "export 'q[$(evil)]=1'", "unset 'a[$(evil)]'", "declare PATH=sub", "readonly PATH=sub", "wait -p 'a[$(evil)]'", "hash -p ./evil git",
    "enable -f x git", "PS4='$(evil)'; set -x; true", "getopts a PATH", "mapfile PATH", "read PATH < in/data", "read -p x PATH < in/data", "read -n9 PATH < in/data", "read -d 'a[$(evil)]' x", "read -u 0 -t 1 'a[$(evil)]'", "read -rp PATH x < in/data", "printf -v PATH sub",
    "[ 'a[$(evil)]' -eq 0 ]", "[[ 'a[$(evil)]' -eq 0 ]]", "[[ -v 'a[$(evil)]' ]]", "exec -a x rm", "command -p rm", "export PATH=sub", "unset PATH",
    "PATH=sub; git a", "IFS=i; x=rim; $x", "shopt -s expand_aliases", "BASH_ENV=canary; git a", "export npm_config_script_shell=./evil; npm run test",
];

/// Assignments before a command.
pub const BEFORE: &[&str] = &[
    "CI=1 ", "LANG=C ", "LC_ALL=C ", "PATH=sub ", "GIT_DIR=x ", "x=1 ", "IFS= ", "BASH_ENV=canary ", "CI=$x ", "LD_PRELOAD=x ", "a[$(evil)]=1 ",
    "a+=1 ", "ENV=canary ", "PS4='$(evil)' ",
];

/// Ends of pipes.
pub const PIPED: &[&str] = &[
    "head", "head -2", "tail -n 5", "wc -l", "sort", "sort -rn", "uniq -c", "cut -d: -f1", "tr a b", "grep x", "grep -v x", "grep -A 2 x", "cat",
    "cat -n", "nl", "rev", "tac", "column -t", "head canary", "cat < canary", "sort -o canary", "sort --compress-prog=./evil -S100k", "grep x canary",
    "grep -f canary x", "cat canary", "tee canary", "head -n $x", "sort -uo canary", "grep -r x", "grep -rn SECRET", "uniq x canary",
    "head -c5 <<< x", "wc --files0-from=canary", "cut -f1 canary", "tr a b < canary", "sort -T sub",
];

/// What stands before a command and runs it.
pub const WRAPPERS: &[&str] = &[
    "timeout 5 ", "timeout -s INT 5s ", "timeout -k 1 5 ", "nice ", "nice -n 5 ", "nohup ", "stdbuf -oL ", "command ", "exec ", "env ", "env CI=1 ",
    "env PATH=sub ", "env -i ", "xargs ", "xargs -n1 ", "xargs -I{} ", "xargs -I git ", "time ", "timeout --foreground 5 ", "timeout $x ",
    "xargs -d x ", "xargs -a canary ", "env -S ", "nice -5 ", "echo a | xargs ", "echo rm | xargs -I{} ", "command -- ", "exec -c ", "xargs -0 ",
    "echo -delete | xargs ",
];

pub const NAMES: &[&str] = &[
    "x", "y", "f", "i", "n", "OUT", "G", "V1", "name", "VERSION", "PATH", "IFS", "path", "cdpath", "status", "RANDOM", "SECONDS",
    "OPTIND", "HISTCMD", "_", "argv", "HOME", "PWD", "OLDPWD", "CDPATH", "ENV", "LC_ALL", "CI", "DEBUG", "TZ", "PS4", "fpath",
    "SHELLOPTS", "BASHOPTS", "GIT_DIR", "STUB_LOG", "UID", "EUID", "LINENO", "BASH_ARGV0", "PROMPT_COMMAND", "POSIXLY_CORRECT",
    "FUNCNAME", "DIRSTACK", "GROUPS", "MAILCHECK", "TMOUT", "module_path", "HISTFILE", "FIGNORE", "GLOBIGNORE", "npm_config_x",
];

pub const VALUES: &[&str] = &[
    "a", "1", "out", "sub", "rm", "git", "in/data", "'a b'", "\"$x\"", "$x", "'a[$(evil)]'", "'$(evil)'", "-delete", "-exec", "..",
    "../..", "'-exec evil'", "'*'", "*", "~", "$(git a)", "\"$(git a)\"", "`git a`", "", "''", "$((1+2))", "a:b", "{a,b}", "'; rm x'",
    "./evil", "canary", "$HOME", "/", "007", "1+1", "'1 -o x'", "--dry-run", "-1", "$1", "\"$@\"", "scripts/x.py",
];

/// Changes of directory, and what looks like none.
pub const MOVES: &[&str] = &[
    "cd sub", "cd sub/..", "cd ..", "cd \"$x\"", "cd", "cd -", "cd ./sub", "cd sub || true", "cd sub && cd ..", "cd out", "cd in",
    "command cd sub", "builtin cd sub", "eval 'cd sub'", "eval cd sub", "pushd sub", "popd", "CDPATH=. cd sub", "cd -P sub", "cd -- sub",
    "cd sub >/dev/null", "cd 'sub'", "cd s*b", "cd $(git a)sub", "cd ~", "cd scripts", "cd \"$OLDPWD\"", "cd sub 2>&1", "time cd sub",
    "! cd sub", "cd sub &>/dev/null", "cd sub &>/dev/null && git a", "command -p cd sub", "command -- cd sub", "cd sub\ncd ..", "cd ./sub/../sub", "bash -c 'cd sub'", "(cd sub)", "{ cd sub; }", "cd sub x", "cd x sub", "chdir sub",
    "cd \"$(git rev-parse --show-toplevel)\"", "cd $PWD", "cd \"\"", "cd sub/.", "cd //", "cd +1", "cd sub#", "cd sub;:", "cd \\sub",
];

/// Commands that mean something else elsewhere, or with another value.
pub const USES: &[&str] = &[
    "python3 scripts/x.py", "./scripts/run.sh", "ls > out/x", "git a < in/data", "git a > ../x", "git a < ../in/data", "ls > \"$OUT/x\"",
    "\"$G\" a", "$G a", "${G} a", "git a < \"$x\"", "cd sub && git a < in/data", "./git a", "git $x", "find . $x", "find . \"$x\"",
    "find $x", "find \"$x\" -type f", "find \"$x/y\"", "find ${x}$y", "find \"$(pwd)\"", "find . -exec git \"$x\" {} \\;", "find . -exec git a \"$x\" -delete -name \\;",
    "find . -exec git mv {} {}.bk \\;", "find . -mtime -$x", "find . -path $n -name \"$x\"", "find . -path *me -name \"$x\"", "find . -na${n}me -name \"$x\"", "find in -name x -delete",
    "git a > $x", "npm run \"$n\"", "python3 \"$f\"", "python3 $f", "./scripts/\"$f\"", "./scripts/$f", "git < in/*", "ls \"$@\"",
    "find . -name \"$i\"", "find . -name *.py", "find . *y -print", "find . -name $i", "test \"$x\" a", "echo $((i+1))", "echo $((i + x))", "echo $((n))", "xargs $G", "env $x git a",
];

const POSITIONAL: &[&str] = &[
    "set -- \u{1}v \u{1}v; git \"$@\"", "set -- -delete; find . \"$@\"", "set -- '*' -delete; find . -name \"$@\"",
    "bash -c 'test \"$@\"' x -v 'a[$(evil)]'", "sh -c 'env CI=\"$@\" git' x 1 rm", "sh -c 'find . -name \"$@\"' x '*' -delete",
    "bash -c '\u{1}q' x \u{1}v \u{1}v", "sh -c '\"$@\"' x rm a", "sh -c '$1 a' x rm", "sh -c '$0 a' rm", "bash -c 'git \"$1\"' _ -x",
    "set -- rm; \"$1\" a", "set -- rm a\n\"$@\"", "for i; do $i; done", "bash -c 'for i; do git \"$i\"; done' x a 'b c'",
    "find . -name \"${@}\"", "find . -name \"pre $@\"", "find . -name \"$*\"", "test \"${@}\"", "[ \"$@\" ]", "env CI=\"${@}\" git a",
    "printf \"$@\"", "timeout \"$@\" git a", "nice -n \"$@\" git a", "xargs -n \"$@\" git", "git a | head -n \"$@\"", "git a | grep \"$@\"",
    "set -- -v 'a[$(evil)]'; test \"$@\"", "set -- a; shift; git \"$@\"", "set a b; git $1", "set -e -- rm; $1", "set - rm; $1",
    "bash -c 'printf \"$@\"' x -v PATH sub", "sh -c 'cd \"$1\"; \u{1}u' x sub", "sh -c 'export CI=\"$1\"; git' x '$(evil)'",
    "bash -c 'test \"$1\" -eq 0' x 'a[$(evil)]'", "bash -c '[[ $1 -eq 0 ]]' x 'a[$(evil)]'", "bash -c 'read \"$@\"' x PATH",
    "find . -name a -exec git \"$@\" \\;", "find . -exec \"$@\" \\;", "echo x | xargs \"$@\"", "sleep \"$@\"", "date \"$@\"",
    "git a | sed \"$@\"", "git a | jq \"$@\"", "basename \"$@\"", "which \"$@\"",
];

const HEREDOCS: &[&str] = &[
    "git commit -m \"$(cat <<'EOF'\na message (with it's quotes)\nEOF\n)\"", "git \"$(cat <<'E'\nE x\nE\n)\"", "git \"$(cat <<'E'\nE) ; rm x #\nE\n)\"",
    "git $(cat <<E\nE\n)", "git $(cat <<E\nE)", "git $(git a <<'E'\nx\nE)\nrm x\n", "(git a <<'E'\nE) ; rm x\nE\n)", "(cat <<'E'\n\u{1}v\nE\n)",
    "git <(cat <<'E'\nE)rm x\nE\n)", "git a <<'E' <<'F'\nx\nE\ny\nF\n", "cat <<'E' | git a\n\u{1}v\nE\n", "git \"$(cat <<-'E'\n\tx\n\tE\n)\"",
    "git \"$(cat <<-'E'\n\tEx\n\tE\n)\"", "{ git a <<'E'\nE}; rm x\nE\n}", "bash -c 'git a <<E\n\u{1}w\nE\n'", "git \"`cat <<'E'\nE\\`; rm x\nE\n`\"",
    "git a <<E$x\nE$x\n", "git a <<'E\nF'\nE\nF\n", "git a <<''\nx\n\nrm x\n", "git a <<\"E F\"\nE\nE F\n", "git a << 'E' && git b\nx\nE\n",
    "git a <<'E'; \u{1}s\nx\nE\n", "git a <<'E' &\nx\nE\n", "if git a <<'E'\nx\nE\nthen \u{1}s; fi", "for i in a; do git <<'E'\nE; rm x\nE\ndone",
    "git \"$(git a <<'E' | cat\nE x | rm\nE\n)\"", "eval 'git a <<E\nx\nE\n'", "git a <<'E'\nx\nE \nrm x\nE\n", "git a <<\\E\n$(rm x)\nE\n",
    "git a <<E\n$(git a)\nE\n", "git a <<E\n\\\nE\nrm x\nE\n", "cat <<'E' > out/h\nrm x\nE\n", "git \"$(cat <<'E'\n)\nE\n)\"", "git \"$(cat <<'E'\n)\"; rm x\nE\n)\"",
    "git \"$(cat <<'EOF'\nEOFX\nEOF\n)\"", "git $( (cat <<'E'\nE)) \nE\n) )", "cat <<'E'\n$x\nE", "git \"$(cat <<E\n$x\nE\n)\"",
];

const PARENTS: &[&str] = &[
    "./scripts/../evil", "./scripts/../../bin/rm a", "./scripts/./../evil", "x=..; ./scripts/$x/evil", "for i in ..; do ./scripts/$i/evil; done",
    "for i in run.sh; do ./scripts/$i; done", "./scripts/.?/evil", "./scripts/.*/evil", "./scripts/[.]./evil", "./scripts/{..,a}/evil",
    "./scripts/$(echo ..)/evil", "./scripts/\"$x\"", "./scripts/$x", "x=../evil; ./scripts/$x", "x=../evil\n./scripts/\"$x\"", "./scripts/..//evil",
    "./scripts/'..'/evil", "./scripts/\\../evil", "./scripts/.\\./evil", "./scripts/sub/../run.sh", "./scripts//../evil", "scripts/../evil",
    "git a > out/../canary", "git a > out/$x/../canary", "git a > out/.?/canary", "git a < in/../canary", "git a < in/.*/canary", "git a > out/*",
    "git a > \"out/$x\"", "for i in a ..; do git a > out/$i/x; done", "./scripts/..", "./scripts/../scripts/run.sh", "python3 scripts/x.py/../../evil",
    "FOO=1 make -C ..", "FOO='1 x' make", "./scripts/`echo ..`/evil", "./scripts/*/../../evil", "./scripts/?un.sh", "./scripts/r*", "./scripts/*",
    "git ../* --dry-run", "git a > out/x/../../../x", "./scripts/run.sh ../../x", "x=sub/..; ./scripts/$x/../evil", "git < in/./../../secret",
];

const DIRECTORIES: &[&str] = &[
    "\u{1}d; \u{1}u", "\u{1}d && \u{1}u", "\u{1}d || \u{1}u", "(\u{1}d); \u{1}u", "(\u{1}d; \u{1}u)", "{ \u{1}d; }; \u{1}u", "if \u{1}d; then \u{1}u; fi",
    "if true; then \u{1}d; fi; \u{1}u", "if false; then \u{1}d; else :; fi\n\u{1}u", "for i in 1 2; do \u{1}d; \u{1}u; done", "for i in 1 2; do \u{1}u; \u{1}d; done",
    "while \u{1}d; do \u{1}u; break; done", "while read -r x; do \u{1}d; done < in/data; \u{1}u", "until \u{1}d; do break; done; \u{1}u",
    "case a in a) \u{1}d ;; esac; \u{1}u", "case a in b) \u{1}d ;; *) ;; esac; \u{1}u", "eval '\u{1}d'; \u{1}u", "eval \"\u{1}d; \u{1}u\"",
    "\u{1}d | cat; \u{1}u", "git a | \u{1}d; \u{1}u", "\u{1}d & \u{1}u", "! \u{1}d; \u{1}u", "git $(\u{1}d; \u{1}u)", "git $(\u{1}d); \u{1}u",
    "git \"$(\u{1}d)\"; \u{1}u", "bash -c '\u{1}d'; \u{1}u", "bash -c '\u{1}d; \u{1}u'", "exec \u{1}d; \u{1}u", "\u{1}d > out/x; \u{1}u", "\u{1}d; \u{1}d; \u{1}u",
    "git <(\u{1}d; \u{1}u)", "cat <<E\n$(\u{1}d)\nE\n\u{1}u", "\u{1}u; \u{1}d; \u{1}u", "x=$(\u{1}d; git a); \u{1}u", "find . -execdir \u{1}u \\;",
    "find sub -exec \u{1}u \\;", "true && { \u{1}d; } && \u{1}u", "\u{1}d; ( \u{1}u ); \u{1}u", "time \u{1}d; \u{1}u", "[ -d sub ] && \u{1}d; \u{1}u",
    "for i in sub .; do cd $i; \u{1}u; done", "select i in a; do \u{1}d; break; done; \u{1}u", "set -e; \u{1}d; \u{1}u", "env -C sub \u{1}u", "coproc \u{1}d; \u{1}u",
    "test -f x || \u{1}d; \u{1}u", "nice \u{1}d; \u{1}u", "timeout 5 sh -c '\u{1}d; \u{1}u'", "\u{1}d; bash -c '\u{1}u'", "\u{1}d; eval '\u{1}u'",
];

const EVALUATED: &[&str] = &[
    "eval '\u{1}q'", "eval git '\u{1}q'", "eval \"git $x\"", "eval \"$x\"", "eval $x", "eval 'git a' ';' rm x", "eval git \\; rm x", "eval -- 'git a'",
    "eval 'git \"$(rm x)\"'", "eval eval 'git a; rm x'", "eval 'eval \"rm x\"'", "eval \"git '$x'\"", "x='rm x'; eval \"$x\"", "eval 'x=rm'; $x a",
    "eval 'x=1'; echo $((x))", "x='a[$(evil)]'; echo $((x))", "x='a[$(evil)]'; echo ${y:x}", "x='a[$(evil)]'; test -v x", "eval 'alias git=rm'\ngit a",
    "let x=1", "trap '\u{1}q' EXIT", "trap 'rm x' 0; exit", "trap -- 'rm x' TERM; git a", "PS4='$(rm x)'; set -x; git a", "PROMPT_COMMAND='rm x'; git a",
    "mapfile -C 'rm x' -c 1 a < in/data", "compgen -C 'rm x'", "complete -C 'rm x' git", "readarray -C rm -c1 a < in/data", "source <(echo rm x)",
    ". in/data", "eval \"$(git a)\"", "hash -p ./evil git; git a", "enable -f ./evil x", "bind -x '\"a\": rm'", "fc -s rm", "history -s rm", "declare -i x='a[$(evil)]'",
    "typeset -i x; x='a[$(evil)]'", "integer x='a[$(evil)]'", "local x='a[$(evil)]'", "readonly 'x=a[$(evil)]'", "unset 'a[$(evil)]'", "read 'a[$(evil)]' < in/data",
    "printf -v 'a[$(evil)]' x", "wait -p 'a[$(evil)]'", "test 'a[$(evil)]' -eq 0", "[ -t 'a[$(evil)]' ]", "[[ -t 'a[$(evil)]' ]]", "exit 'a[$(evil)]'",
    "return 'a[$(evil)]'", "break 'a[$(evil)]'", "shift 'a[$(evil)]'", "read -t 'a[$(evil)]' x", "read -n 'a[$(evil)]' x", "printf %d 'a[$(evil)]'", "printf '%*d' 'a[$(evil)]' 1",
    "ulimit -c 'a[$(evil)]'", "umask 'a[$(evil)]'", "kill -'a[$(evil)]' 1", "[[ a -eq 'a[$(evil)]' ]]", "[[ 1 == 1 && -v 'a[$(evil)]' ]]", "case $((0)) in 'a[$(evil)]') ;; esac",
    ": ${x:=$(rm x)}", ": \"${x:-'$(rm x)'}\"", ": \"${x:+\"$(rm x)\"}\"", ": ${x:?$(rm x)}", ": \"${x#$(rm x)}\"", ": ${x/\\$(evil)/a}", "for x in 'a[$(evil)]'; do echo $((x)); done",
    "read x <<< 'a[$(evil)]'; echo $((x))", "getopts a x; echo $((x))", "x=1; y=x; echo $((y))", "RANDOM='a[$(evil)]'", "SECONDS='a[$(evil)]'; git a", "OPTIND='a[$(evil)]' git a",
    "for RANDOM in 'a[$(evil)]'; do :; done", "read OPTIND <<< 'a[$(evil)]'", "HISTCMD='a[$(evil)]'", "x=RANDOM; for $x in a; do :; done", "LINENO='a[$(evil)]'; git a",
];

const VALUES_THAT_RUN: &[&str] = &[
    "DEBUG='$(shell evil)' npm run test", "CI='a b' git a", "TZ=':x' git a", "LC_ALL='x;y' git a", "CI=\u{1}v git a", "DEBUG=\u{1}v npm run test", "LANG=\u{1}w git a",
    "export CI=\u{1}v; git a", "export DEBUG='$(shell evil)'; npm run test", "export \u{1}n=\u{1}v; git a", "\u{1}n=\u{1}v git a", "\u{1}n=\u{1}v; git a", "\u{1}n=\u{1}v\n\u{1}u",
    "env CI=\u{1}v git a", "env \u{1}n=\u{1}v git a", "export \u{1}n; git a", "set -a; \u{1}n=\u{1}v; git a", "set -o allexport; x=1; git a", "export x=1 CI=1; git a",
    "x=1; export x; git a", "x=1 y=2 git a", "CI=1 \u{1}n=\u{1}v git a", "readonly \u{1}n=\u{1}v; git a", "typeset -x x=1; git a", "declare -x CI=1; git a", "export -n CI; git a",
    "for \u{1}n in \u{1}v; do git a; done", "read \u{1}n < in/data; git a", "read -r \u{1}n \u{1}n <<E\n\u{1}v\nE\ngit a", "for \u{1}n in \u{1}v \u{1}v; do \u{1}u; done",
    "CI=$(evil) git a", "NODE_ENV=\"$x\" npm run test", "NO_COLOR= git a", "RUST_LOG='a,b=c' git a", "CI='\n' git a", "COLUMNS=80 git a", "COLUMNS='a[$(evil)]' git a",
    "LINES='a[$(evil)]'; git a", "exec env CI=1 git a", "CI=1 exec git a", "CI=1 command git a", "CI=1 eval 'git a'", "x=1 eval 'git a'", "x=1 : ; git a", "PATH=sub : ; git a",
    "PATH=sub eval; git a", "IFS=x read -r y; git a", "IFS=i; x=rim; $x a", "HOME=sub; cd; \u{1}u", "HOME=. git a < ~/in/data", "PWD=sub git a", "unset HOME; git a > ~/x",
];

const NESTED: &[&str] = &[
    "bash -c '\u{1}q'", "sh -c \"bash -c 'git a'\"", "bash -c \"bash -c 'rm x'\"", "sh -c 'sh -c \"git \\$x\"'", "bash -c 'bash -c \"rm x\"'", "bash -c 'eval \"git a; rm x\"'",
    "eval \"bash -c 'rm x'\"", "bash -c 'git a' | sh", "echo rm x | sh", "echo rm x | bash -", "sh <<< 'rm x'", "bash -s < in/data", "bash -c 'git a; exec sh' <<< 'rm x'",
    "bash <(echo rm x)", "sh -c 'git \"$(sh -c \"rm x\")\"'", "timeout 5 bash -c '\u{1}q'", "env bash -c '\u{1}q'", "nohup sh -c '\u{1}q' &", "xargs -I{} sh -c 'git {}'",
    "echo a | xargs -I{} bash -c 'git {}; rm {}'", "find . -exec sh -c 'git \"$1\"' _ {} \\;", "find . -exec bash -c 'rm x' \\;", "command bash -c '\u{1}q'", "exec bash -c '\u{1}q'",
    "bash -c \"$x\"", "bash -c 'git a'\"$x\"", "bash -c git\\ a", "bash -c $'git a'", "dash -c '\u{1}q'", "zsh -c '\u{1}q'", "busybox sh -c 'rm x'", "ash -c 'rm x'",
    "/bin/sh -c '\u{1}q'", "/bin/bash -c 'rm x'", "sh -c 'set -- rm; \"$@\"'", "sh -c 'x=$1; $x' _ rm", "bash -c 'git() { rm x; }; git a'", "bash -c '. ./evil'",
    "bash -c 'cd sub'; \u{1}u", "sh -c 'OUT=sub; \u{1}u'", "OUT=out; sh -c '\u{1}u'", "G=rm; bash -c '$G a'", "G=git; bash -c '$G a'", "export G=git; sh -c '$G a'",
];

const OPTIONS: &[&str] = &[
    "sh - -c x", "sh -- -c x", "sh -c -- 'git a'", "bash -c -e 'git a'", "bash -e -c 'git a'", "bash -ec 'git a'", "bash -ce 'git a'", "bash +e -c 'git a'", "bash -c 'git a' -c 'rm x'",
    "bash -o pipefail -c 'git a'", "bash -eo pipefail -c 'git a'", "bash -o errexit -c 'git a'", "bash -euo pipefail -c 'git a'", "bash -c +x 'git a'", "bash --norc -c 'git a'",
    "bash --init-file canary -ic 'git a'", "bash -c", "sh -c ''", "sh -c 'git a' -- rm", "sh -", "sh --", "bash --posix -c 'git a'", "bash -r -c 'git a'", "sh -ec'git a'", "sh -c'git a'",
    "bash -cx 'git a'", "bash -O extglob -c 'git a'", "sh -s -c 'git a'", "bash -c -c 'git a'", "dash -E -c 'git a'", "bash -p -c 'git a'", "bash -v -c 'git a'", "bash -n -c 'rm x'",
    "env -- git a", "env - git a", "env -i git a", "env -u CI git a", "env -S 'rm x'", "env -S'git a'", "env --split-string='rm x'", "env -C sub git a", "env CI=1 -- git a", "env -- CI=1 git a",
    "env CI=1 PATH=sub git a", "timeout -- 5 git a", "timeout 5 -- git a", "timeout -k1 5 git a", "timeout --signal=KILL 5 git a", "timeout -sKILL 5 git a", "timeout -s 5 rm x", "timeout 5 timeout 5 rm",
    "timeout -v 5 git a", "timeout --preserve-status 5 git a", "nice -- git a", "nice -n5 git a", "nice -n -5 git a", "nice --adjustment=5 git a", "nice -n 5 -n 6 git a", "nohup -- git a",
    "stdbuf -o L git a", "stdbuf --output=L git a", "stdbuf -i0 -oL -eL git a", "command -p git a", "command -pv git", "command -v rm", "command -V git", "command -vp rm", "command -- git a", "command command git a",
    "command -p -- rm x", "builtin -- cd sub; \u{1}u", "builtin command rm x", "exec -a x git a", "exec -l git a", "exec -- git a", "exec -cl git a", "exec git a; rm x", "xargs -- git a", "xargs -n1 -- git",
    "xargs -n 1 git", "xargs -P4 -n1 git", "xargs -L1 git", "xargs -I % git %", "xargs -I% git %", "xargs -i git {}", "xargs -Igit git git", "xargs -E x git", "xargs -a in/data git", "xargs -r0 git", "xargs --null git",
    "xargs -t git", "xargs -p git", "xargs -x git", "xargs -s 100 git", "xargs -n1 -I{} {} a", "time -p git a", "time -- git a", "time -f x git a", "time -o canary git a", "time ! git a", "! time git a", "! ! git a",
    "git clean -fd -e canary", "git clean -fd -e -e canary", "git clean -fd --exclude= canary", "for o in -e; do git clean -fd \"$o\" ../.claude/skills; done",
    "for o in -e; do git -C sub clean -fd $o x; done", "git -c alias.x='!rm' x", "find -L . -name x", "find . -- -delete", "find -- . -delete", "find . -name x -o -delete", "find . ! -delete", "find . \\( -delete \\)", "find . , -delete", "find . -name -delete",
    "find . -newer -delete", "find -D exec . -delete", "find -O3 . -delete", "find . -files0-from canary", "find . -exec git {} + -exec rm {} \\;", "find . -exec git \\; -delete", "find . -printf '%p' -fls canary",
    "find . -regex -exec -exec git a \\;", "find . -exec git ';' -o -exec rm ';'", "find . -exec env git {} \\;", "find . -exec timeout 5 rm {} \\;", "find . -okdir git \\;", "find . -exec {} \\;", "find . -exec git{} \\;",
    "npm run test -- -x", "npm run test:x", "npm run -- test", "npm --x run test", "npm run test; npm install", "npm run testing", "npm run 'test:*'", "npm run \"test$x\"", "npm run test$x", "npm run test: x",
    "set -- -x; git a", "set -o posix; git a", "set +e; git a", "set -eu; git a", "set -f; git *", "set +o histexpand", "set -k; git a PATH=sub", "set -o keyword; git PATH=x", "set -T", "set -o", "shopt -s extglob; git a",
];

const CONSTANTS: &[&str] = &[
    "OUT=out; \u{1}u", "OUT=out\n\u{1}u", "G=git; \u{1}u", "G=rm; \u{1}u", "f=run.sh; \u{1}u", "f=scripts/x.py; \u{1}u", "i=1; \u{1}u", "n=test; \u{1}u", "x=out/x; \u{1}u", "x=in/data; \u{1}u", "x=canary; \u{1}u",
    "x=-delete; \u{1}u", "x=..; \u{1}u", "P=rm; P=git; $P x", "P=git; P=rm; $P x", "G=git && $G x", "G=git || :; $G x", "! G=git; $G x", "G=git | cat; $G x", "(G=git); $G x", "G=git & $G x", "{ G=git; }; $G x",
    "if true; then G=git; fi; $G x", "for G in rm; do :; done; $G x", "G=git; for G in rm; do $G x; done", "G=git; read G < in/data; $G x", "G=git; read -r G <<< rm; $G x", "G=git; eval G=rm; $G x", "G=git; unset G; $G x",
    "G=git; export G=rm; $G x", "G=git; export G; $G x", "G=git; : ${G:=rm}; $G x", "G=git; printf -v G rm; $G x", "G=git; getopts G x; $G x", "G=git; declare G=rm; $G x", "G=git; typeset -n H=G; H=rm; $G x",
    "G=git; local G=rm; $G x", "G=git; readonly G=rm; $G x", "G=git; mapfile G < in/data; $G x", "G=git; let G=1; $G x", "G=git; ((G=1)); $G x", "G=git; echo $((G=1)); $G x", "G=git; G+=k; $G x", "G=git; exec {G}> out/x; $G x",
    "G=git; wait -p G; $G x", "G=git; coproc G { :; }; $G x", "G=git; select G in rm; do break; done; $G x", "G=git; trap G=rm EXIT; $G x", "G=git; . ./evil; $G x", "G=rm $G x; G=git", "$G x; G=git", "while false; do G=git; done; $G x",
    "G=git; while $G a; do G=rm; break; done", "f() { G=rm; }; G=git; f; $G x", "G=git; bash -c '$G x'", "G=git; (\u{1}u)", "G=git; { \u{1}u; }", "G=git; if \u{1}u; then \u{1}u; fi", "G=git; git $(\u{1}u)", "G=git; \u{1}s; \u{1}u",
    "G='git'; $G x", "G=\"git\"; $G x", "G=g\\it; $G x", "G=git\\ x; $G", "G=git; ${G}k", "G=git; $Gk x", "G=git; \"${G}\" x", "G=git; {$G,rm} x", "G=git; ${G%t} x", "G=git; ${G:-rm} x", "G=git; ${G/git/rm} x", "G=git; ${!G} x",
    "G=git; x=$G; $x a", "G=; $G rm x", "G=''; $G rm x", "i=1; i=$((i+1)); echo $i", "i=1; echo $((i+1))", "i=1; echo $((i++))", "i=1; echo $((i=2))", "i=08; echo $((i+1))", "i=1; echo $((i+x))", "i='a[$(evil)]'; echo $((i+1))",
    "i=a; echo $((i+1))", "i=1; echo $((-i))", "i=1; echo $((i--1))", "i=1; echo $((i - -1))", "i=1; echo $((i,1))", "i=1; echo $((i?1:2))", "i=1; echo $((i**2))", "i=1; echo $((i<<2))", "i=1; echo $((0x1+i))", "i=1; echo $((16#i))",
    "D=sub; cd $D; \u{1}u", "D=sub; cd \"$D\" && \u{1}u", "OUT=../x; git a > $OUT", "OUT=out; git a > $OUT/x", "OUT=out; git a > \"$OUT\"/../canary", "OUT=out/x; git a > ${OUT}y", "OUT=~; git a > $OUT/x", "OUT=out; cd sub; git a > $OUT/x",
    "OUT=out; ls > \"$OUT/$x\"", "OUT=out\nOUT=sub\nls > $OUT/x", "OUT=out; OUT=canary ls > $OUT", "ls > $OUT; OUT=out", "PATH=sub; git a", "path=sub; git a", "_=rm; $_ x", "git rm; $_ x", "VERSION=$(git describe); git tag \"$VERSION\"",
    "COUNT=3; git -n$COUNT", "FILES='a b'; git $FILES", "FILES=\"$(git ls-files)\"; for f in $FILES; do git \"$f\"; done", "\u{1}n=\u{1}v; \u{1}u", "\u{1}n=\u{1}v; \u{1}s; \u{1}u", "\u{1}n=\u{1}v\n\u{1}n=\u{1}v\n\u{1}u",
];

const FILTERS: &[&str] = &[
    "git a | sed -n 1p", "git a | sed -n '1,5p'", "git a | sed 's/a/b/g'", "git a | sed -E 's/(a)/b/'", "git a | sed -e 's/a/b/' -e 's/b/c/'", "git a | sed 's/a/b/w canary'", "git a | sed 's/.*/rm x/e'", "git a | sed 'e rm x'", "git a | sed '1e rm x'",
    "git a | sed 'w canary'", "git a | sed -n '/a/w canary'", "git a | sed 'r canary'", "git a | sed 'R canary'", "git a | sed -i s/a/b/ canary", "git a | sed -f canary", "git a | sed -n p canary", "git a | sed --expression=p", "git a | sed -s p",
    "git a | sed 's/[/]/w canary/'", "git a | sed 's/[\\]/]/w canary/;p'", "git a | sed 's/a/b/;w canary'", "git a | sed 's/a/b/\nw canary'", "git a | sed '/a/{w canary\n}'", "git a | sed 's,a,b,'", "git a | sed 's|a|b|e'", "git a | sed 's#a#b#w canary'",
    "git a | sed '/[/]/w canary/p'", "git a | sed '\\,a,w canary'", "git a | sed \"s/a/$x/\"", "git a | sed $x", "git a | sed '$d'", "git a | sed '/a/,/b/d'", "git a | sed '1!p'", "git a | sed 's/a/\\n/'", "git a | sed 's/a/b/2gp'", "git a | sed 'sxaxex'",
    "git a | sed 'y/a/b/'", "git a | sed q", "git a | sed 's/\\(a\\)/\\1/'", "git a | sed 's/a\\/b/c/'", "git a | sed 's/a/b/M'", "git a | sed --posix p", "git a | sed -n -e p -- canary", "git a | sed 's/a/b/' 's/c/d/'",
    "git a | awk '{print $1}'", "git a | awk -F: '{print $2}'", "git a | awk 'NR==1'", "git a | awk 'NR>1 {print $1, $3}'", "git a | awk '{print > \"canary\"}'", "git a | awk '{print $1 > \"canary\"}'", "git a | awk 'BEGIN{system(\"rm x\")}'",
    "git a | awk '{print | \"rm x\"}'", "git a | awk '{\"rm x\" | getline}'", "git a | awk 'BEGIN{getline < \"canary\"; print}'", "git a | awk '{print $1}' canary", "git a | awk -f canary", "git a | awk -v x=1 '{print x}'", "git a | awk '{print}' FS=x",
    "git a | awk '@load \"x\"'", "git a | awk -F 'rm x' '{print}'", "git a | awk '{print ENVIRON[\"HOME\"]}'", "git a | awk 'NR>\"canary\"'", "git a | awk '{print $1 >\"out/x\"}'", "git a | awk '{print NF > 2}'", "git a | awk '$1 > 2'", "git a | awk '$1 == \"a\" {print $2}'",
    "git a | awk '{print(1)>\"canary\"}'", "git a | awk '/a/'", "git a | awk '{print $NF}'", "git a | awk \"{print \\$1}\"", "git a | awk \"$x\"", "git a | awk '{printf \"%s\", $1}'", "git a | awk '{close(\"x\")}'", "git a | awk 'NR > 1 > \"canary\"'",
    "git a | jq .", "git a | jq -r .a", "git a | jq -r '.[] | .name'", "git a | jq --arg x \"$x\" .a", "git a | jq --arg x $x .a", "git a | jq --rawfile x canary '$x'", "git a | jq -n env", "git a | jq -n '$ENV.HOME'", "git a | jq . canary", "git a | jq -f canary",
    "git a | jq 'import \"canary\" as x; .'", "git a | jq -n 'input_filename'", "git a | jq -L . .", "git a | jq --slurpfile x canary '$x'", "git a | jq --args . a", "git a | jq -n '\"a\\(env)\"'", "git a | jq -rc .", "git a | jq -er .a", "git a | jq --argjson x 1 '$x'",
    "git a | jq 'include \"x\"; .'", "git a | jq '$__prog_args'", "git a | jq -n 'get_search_list'", "git a | jq 'modulemeta'", "git a | jq $x", "git a | jq .a $x", "git a | jq '@sh'", "git a | jq -n 'input'", "git a | jq --seq .", "git a | jq -n '[limit(3;repeat(1))]'",
    "git a | head -n1 canary", "git a | grep -e x", "git a | grep -ex canary", "git a | grep -- x", "git a | grep -- x canary", "git a | grep \"$x\"", "git a | grep $x", "git a | grep -n 'a b'", "git a | sort -k2", "git a | sort -t: -k2", "git a | cut -d' ' -f1",
    "git a | tail -n+2", "git a | tail +2", "git a | tail -1", "git a | uniq -c", "git a | tr -d 'a'", "git a | tr '[:upper:]' '[:lower:]'", "git a | wc -l", "git a | cat -", "git a | cat - canary", "git a | tee out/x", "git a | less", "git a | column -t -s,",
    "sed -n 1p", "awk 1", "jq .", "sed -n 1p canary", "git a; sed -n p", "echo x | sed 's/x/rm/' | sh", "cat in/data | sed p", "git a |& sed p", "git a | { sed p; }", "git a | (awk 1)", "git a | if true; then cat; fi", "git a | while read -r x; do git \"$x\"; done",
];

const NEUTRAL: &[&str] = &[
    "sleep 1", "sleep 0.1", "sleep $x", "sleep --help", "date", "date +%F", "date '+%Y %m'", "date -u", "date -u +%s", "date -d yesterday", "date -d \"$x\"", "date -f canary", "date -s x", "date 010100002030", "date $x", "date \"$x\"", "date +$x", "date \"+$x\"", "date -r canary",
    "date --file=canary", "date -I", "date -Iseconds", "date -R", "date -uf canary", "date +%F -f canary", "date +%F \"$x\"", "date -d x -s y", "basename a", "basename \"$x\" .txt", "basename $x", "basename -a a b", "dirname \"$x\"", "dirname $x", "dirname -- \"$x\"", "seq 3",
    "seq 1 2 3", "seq -w 3", "seq -f '%g' 3", "seq $x", "seq \"$x\"", "uname", "uname -a", "uname -sm", "uname $x", "whoami", "whoami x", "id", "id -u", "id $x", "id \"$x\"", "nproc", "nproc --all", "nproc --ignore=1", "which git", "which -a git", "which $x", "which \"$x\"",
    "type git", "type -t git", "type \"$x\"", "hostname", "hostname x", "hostname -F canary", "hostname $x", "hostname -b x", "sleep 1; git a", "for i in $(seq 3); do git $i; done", "D=$(date +%F); git tag \"$D\"", "git commit -m \"$(date)\"", "B=$(basename \"$PWD\"); git $B",
    "echo \"$(whoami)@$(hostname)\"", "/bin/date +%F", "./date +%F", "env date -s x", "nice date +%F", "timeout 1 sleep 1", "xargs date", "find . -exec basename {} \\;", "find . -exec date {} \\;", "xargs basename", "xargs hostname", "echo x | xargs which",
    "test -f a && sleep 1", "echo $?", "git a; echo $?", "echo $$ $#", "echo \"${x:0:3}\"", "echo ${x:?no}", "echo \"${x:+a}\"", "echo \"${x:-a/b}\"", "echo \"${x:-'$(evil)'}\"", "echo ${x:$y}", "echo ${@:1}", "echo \"${x:1:$(evil)}\"", "wait $!", "echo $!",
    "exit $?", "exit $!", "test $? -eq 0", "[ $# -gt 0 ]", "[ $! ]", "test $!", "[ \"$!\" ]", "echo $((1+1))", "echo $(($?+1))", "echo $((x+1))", "echo $(( 1 + $x ))", "echo $(($#))",
];

const OTHER_SHELLS: &[&str] = &[
    "path=sub; git a", "path=(sub); git a", "cdpath=sub; cd x; git a", "x='*(e:evil:)'; echo $~x", "echo *(e:evil:)", "echo *(+evil)", "echo =rm", "=rm x", "echo ${~x}", "echo ${(e)x}", "echo $x[1]", "echo $x[$(evil)]", "echo $x:h", "echo $x:s/a/b", "echo \"$x[$(evil)]\"",
    "git a >! canary", "git a >>! canary", "git a &! rm x", "git a &| rm x", "git a &>! canary", "repeat 2 rm x", "repeat 1 git a", "noglob rm x", "noglob git a", "nocorrect rm x", "- rm x", "- git a", "print -z rm", "print -P '$(evil)'", "emulate sh -c 'rm x'", "zargs a -- rm",
    "autoload rm", "float x='a[$(evil)]'", "integer x=1", "exit 'path[$(evil)]'", "return 'argv[$(evil)]'", "printf %d 'path[$(evil)]'", "printf '%s' 'path[$(evil)]'", "test -t 'path[$(evil)]'", "read -t 'path[$(evil)]' x", "shift 'path[$(evil)]'", "break 'path[$(evil)]'",
    "echo $+x", "echo $=x", "echo $^x", "echo ${=x}", "echo ${^x}", "echo $==x", "echo ${x:#a}", "echo ${#x[$(evil)]}", "for x (rm) $x a", "for x in a; git $x", "if (true) rm x", "while (false) rm x", "foreach x (a) rm x; end", "{ git a } always { rm x }", "git a <<< x > out/a > canary",
    "git a > out/x > out/y", "< canary", "<canary git a", "> out/x", "< in/data", "git a < in/data < canary", "echo {1..3}", "echo {a..c}$x", "echo ~rm", "echo ~+/x", "~/evil", "echo !rm", "echo '!rm'", "echo \"!rm\"", "git a ^x", "git a #x", "git a # rm x\nrm y", "git a \\# x",
    "function f { rm x }; f", "f () rm x; f", "() { rm x }", "[[ a =~ $(evil) ]]", "[[ -n $x ]] && git a", "[ a == b ]", "[ =rm = a ]", "test a =rm", "git =rm", "argv=rm; $1 x", "status=1; git a", "prompt='$(evil)'; git a", "PROMPT='$(evil)'; git a", "set -A x rm; $x",
    "let \"x=1\"", "typeset -T PATH p; p=sub; git a", "setopt globsubst; git $x", "unsetopt x", "alias -g x=rm; git x", "git a; fg", "disown", "git a |& cat", "git a &>> out/x", "git a <&-", "git a >&-", "git a 2>&1 1>&3", "git a <>out/x", "git $'a'", "git $\"a\"", "git a\\\n b",
];

const DENIED: &[&str] = &[
    "x=rm; $x a", "\"r\"m a", "r\\m a", "command rm a", "exec rm a", "env rm a", "env -i rm a", "env -S 'rm a'", "busybox rm a", "nice -n 3 rm a", "timeout -s KILL 3 rm a", "sudo rm a", "sudo -u x rm a", "doas rm a", "xargs rm", "xargs -I{} rm {}", "xargs sh -c 'rm a'", "xargs -i sh -c {}",
    "find . -exec rm {} \\;", "find . -execdir rm {} +", "find . -name x -ok rm {} \\;", "git push", "git  push x", "command git push", "git pu\"\"sh", "p=push; git $p", "git $(echo push)", "git \"$@\" push", "$(echo rm) a", "`echo rm` a", "${x:-rm} a", "{rm,a}", "eval rm a", "eval 'r''m a'",
    "eval \"$x\"", "trap 'rm a' EXIT", "alias x=rm\nx a", "f() { rm a; }; f", "bash -c 'rm a'", "bash -lc 'rm a'", "sh <<E\nrm a\nE\n", "sh <<< 'rm a'", "echo rm a | sh", "echo rm a | bash -s", "bash <(echo rm a)", ". <(echo rm a)", "source /dev/stdin <<< 'rm a'", "! rm a", "time rm a", "time -p rm a",
    "coproc rm a", "if rm a; then :; fi", "while rm a; do break; done", "for i in 1; do rm a; done", "case x in *) rm a;; esac", "(rm a)", "{ rm a; }", "git a $(rm a)", "git a \"`rm a`\"", "git a <(rm a)", "git a > >(rm a)", "cat <<E\n$(rm a)\nE\n", "x=$(rm a)", "x[$(rm a)]=1", "echo $((x[$(rm a)]))",
    "test -v 'x[$(rm a)]'", "printf -v 'x[$(rm a)]' a", "declare 'x[$(rm a)]=1'", "declare -n x=PATH", "read 'x[$(rm a)]' <<< a", "mapfile -C 'rm a #' -c 1 x <<< a", "compgen -C 'rm a'", "compgen -W '$(rm a)'", "PS4='$(rm a)'; set -x; :", "PS4='$(rm a)' bash -xc :", "BASH_ENV=in/data bash -c :", "ENV=in/data sh -i",
    "hash -p sub/rm git; git a", "enable -n rm; rm a", "PATH=sub rm a", "PATH=sub:$PATH; rm a", "ln -s rm x; ./x", "cp rm out/x; out/x", "setsid rm a", "nohup rm a", "stdbuf -oL rm a", "ionice rm a", "flock x rm a", "watch rm a", "strace rm a", "script -c 'rm a'", "unshare rm a", "chroot . rm a", "ld.so rm a",
    "/lib64/ld-linux-x86-64.so.2 ./evil", "exec -a x rm a", "exec -- rm a", "builtin command rm a", "command -p rm a", "command command rm a", "\\rm a", "'rm' a", "sub/rm a", "./rm a", "/bin/../bin/curl a", "sub/../sub/rm a", "x=m; r$x a", "r$(echo m) a", "r* a", "[r]m a", "?m a", "rm\\\n a", "RM=rm; $RM a", "parallel rm",
    "select x in a; do rm a; break; done", "python3 -c 'rm'", "[[ -v x[$(rm\\ a)] ]]", "[[ 'x[$(rm a)]' -eq 1 ]]", "let 'x[$(rm a)]'", "((x[$(rm a)]))", "for ((x[$(rm a)];0;)); do :; done", "${x[$(rm a)]}", "echo ${x@P}", "x='$(rm a)'; echo ${x@P}", "shopt -s expand_aliases; alias git=rm\ngit a", "unset -f x; rm a", "ulimit -c 0; rm a",
];

/// What runs a granted command in another form: elsewhere, by a path, from a text, with a setting.
const INDIRECT: &[&str] = &[
    "git -C sub status", "git -C sub status \u{1}w", "git -C \u{1}w status", "git -C sub/.. status --dry-run", "git -C .. status", "git -C sub -C .. \u{1}w", "git -C sub -C ../.. status", "git -C $x status", "for i in sub ..; do git -C $i status; done",
    "cd sub && git -C .. status", "cd sub && git -C scripts status", "git -C sub -c x=y status", "git -C . -x status; \u{1}u", "(git -C sub status); \u{1}u", "git -C sub status && \u{1}u", "git -C sub push", "git -C status",
    "bash <<'E'\n\u{1}s\nE\n", "sh <<'E'\n\u{1}s; \u{1}s\nE\n", "git a | bash <<'E'\n\u{1}q\nE\n", "dash <<\\E\n\u{1}u\nE\n", "bash <<'E'\nhead -c 9\ngit ' ; rm x # '\nE\n", "bash <<'E' <in/data\ngit a\nE\n", "bash -s <<'E'\n\u{1}s\nE\n", "bash <<'E'\ngit a \\\nE\n", "cd sub && sh <<'E'\n\u{1}u\nE\n", "bash <<-'E'\n\t\u{1}s\n\tE\n",
    "bash ./scripts/run.sh", "bash ./scripts/run.sh \u{1}w", "sh scripts/run.sh", "bash ./scripts/\u{1}w", "bash \u{1}w", "dash ./scripts/../evil", "bash -e ./scripts/run.sh", "cd sub && bash ./scripts/run.sh", "cd scripts && bash ./run.sh", "bash ./evil", "bash run.sh", "xargs bash ./scripts/run.sh", "find . -exec bash ./scripts/run.sh {} +",
    "/bin/bash -c '\u{1}q'", "/usr/bin/env \u{1}s", "/usr/bin/env bash -c '\u{1}q'", "/usr/bin/timeout 5 \u{1}s", "/usr/bin/nice \u{1}s", "/bin/sh ./scripts/run.sh", "/bin/../bin/bash -c 'git a'", "./bash -c 'git a'", "/usr/bin/env CI=\u{1}v git a", "/usr/bin/xargs git", "/usr/bin/env -i git a",
    "API_URL=\u{1}v git a", "API_URL=http://h:1 git a", "export DB_PORT=\u{1}v; git a", "A_ENV=\u{1}w; git \"$A_ENV\"", "A_ENV=rm; $A_ENV a", "A_ENV=sub; git -C \"$A_ENV\" status", "env API_URL=\u{1}v git a", "readonly DB_PORT=5; git $DB_PORT", "for A_ENV in \u{1}v; do git a; done", "read A_ENV < in/data; git a", "A_ENV=in/data; git < $A_ENV",
    "git \"${x:-$y}\"", "git ${x:-$\u{1}n}", "git \"${x:+$1}\"", "git \"${x:-$y.$i}\"", "find . -name \"${x:-$y}\"", "y='-delete'; find . ${x:-$y}", "y=rm; ${x:-$y} a", "git < \"${x:-$y}\"", "y='a[$(evil)]'; echo \"${x:-$y}\"", "y='a[$(evil)]'; test \"${x:-$y}\" -eq 0", "cd \"${x:-$y}\"; \u{1}u", "git \"${x:-$y[$(evil)]}\"", "git \"${x:?$y}\"",
    "git \"a\\\nb\"", "git \"$x\\\n[$(evil)]\"", "git \"$\\\n(rm x)\"", "git \"${x}\\\n\u{1}v\"", "git \"`\\\nrm x`\"", "git \"a\\\n\" rm", "git \"$1\\\n2\"", "git \"\\\\\n$(git a)\"", "git \"a\\\n\\\nb\"", "\"g\\\nit\" a", "\"r\\\nm\" a",
    "git a | base64 -d", "git a | base64 \u{1}w", "base64 -d canary", "mktemp -d", "mktemp canary", "mktemp -d -p \u{1}w", "date -v-1d", "date -v \u{1}w +%F", "date -vx \u{1}w", "unset x", "unset \u{1}n; git a", "x=a; unset x; git $x", "x=rm; unset x; $x a", "unset -f git; git a",
];

/// Programs that show files, and what else they can do.
const READERS: &[&str] = &[
    "cat in/data", "cat in/*", "cat in/leads-out", "cat in/lead*", "cat in/home/x", "cat in/*/x", "cat in/.*/canary", "cat in/../canary", "cat canary",
    "cat \u{1}w", "cat in/\u{1}w", "cat in/data \u{1}w", "head -5 in/data -n canary", "cat in/{data,../canary}", "cat ~/.ssh/id_rsa", "cat < in/leads-out",
    "cat /proc/self/cwd/canary", "cat /proc/self/environ", "cat /dev/fd/../../cwd/canary", "cd in && cat data", "cd in; cat * \u{1}w", "cd sub && cat in/data",
    "cd sub; cat in/data", "(cd sub); cat in/data", "cd in && cat ../canary", "cd in/home && cat x", "cat -- -delete", "cat *",
    "grep -r . in", "grep -rn a in/home", "grep -R . in", "grep -S . in", "grep . in/*", "grep -rn .", "grep .", "echo a | grep .", "echo a | grep -r .",
    "grep -f canary in/data", "grep -rf canary in", "grep -vf canary -r in", "grep -r . in --include=\u{1}w", "grep -e . canary", "grep -e a -e b in \u{1}w",
    "grep --regexp=*a canary in/data", "grep -r . in/leads-out", "grep . \u{1}w", "grep -m 1 . in/data canary", "grep \u{1}w in/data",
    "find in", "find in -name \u{1}w", "find in -delete", "find in -exec cat {} +", "find in -exec evil {} \\;", "find in -fprint canary", "find in -fls canary",
    "find -L in", "find in/ -follow", "find in home", "find ~/.ssh", "find in -files0-from canary", "find -files0-from canary", "find in -newer canary",
    "find in \u{1}w", "find in -name a \u{1}w", "find in -ls", "find in/home/", "find in/home/.ssh", "find *", "find in/*", "find in/home/*", "find",
    "ls", "ls in", "ls in/home", "ls in/home/.ssh", "ls -R in", "ls -LR in", "ls in/*", "ls -d in/.*", "ls in/.*", "ls -la ~/.ssh", "ls in \u{1}w", "ls *",
    "cd in && ls", "cd in && ls *", "stat in/data", "stat in/home/.ssh/CLASSIFIED", "stat -c %N in/leads-out", "stat -L in/home", "stat ~/.ssh/*",
    "sed -n 1p in/data", "sed -n '1w canary' in/data", "sed -n '1r canary' in/data", "sed -n 1p canary", "sed -i s/a/b/ in/data", "sed -n -f canary in/data",
    "sed 's/a/b/e' in/data", "sed '1e evil' in/data", "sed -n '1p;R canary' in/data", "sed -n 1p in/data -i", "sed -s -n '$p' in/data canary", "sed -n '$!p;q' in/data",
    "jq . in/data", "jq -R . in/data", "jq -R . canary", "jq -n env", "jq -Rf canary in/data", "jq -n --rawfile a canary '$a'", "jq -n --slurpfile a canary '$a'",
    "jq -n 'import \"canary\" as a; 1'", "jq -R input_filename in/data", "jq -Rn '[inputs]' in/data canary", "jq -R --arg a b '$a' in/data", "jq --arg a -R in/data",
    "wc in/data", "wc --files0-from=canary", "wc --files0=canary", "wc *", "wc in/*", "nl in/data", "nl in/leads-out", "tail -n 1 in/data", "tail -n 1 canary",
    "file in/data", "file -f canary", "file -bf canary", "file -C -m canary", "file -m canary in/data", "file -z in/data", "file *",
    "tree in", "tree -o canary in", "tree -l in", "tree -R -H . -L 1 in", "tree --fromfile canary", "rg . in", "rg --pre evil . in", "rg -f canary in", "rg -L . in",
    "GREP_OPTIONS=-R grep . in", "POSIXLY_CORRECT=1 cat in/data -n", "cat() { evil; }; cat in/data", "alias cat=evil\ncat in/data", "./cat in/data", "command cat in/data",
    "env cat in/data", "timeout 5 cat in/data", "echo canary | xargs cat", "find in | xargs cat", "xargs cat in/data", "x=canary; cat $x", "x=in/data; cat $x",
    "for f in in/data canary; do cat $f; done", "cat $(echo canary)", "cat <(cat canary)", "cat in/data > canary", "cat in/data > out/x", "cat in/data | tee canary",
    "ls in/data\u{1}w", "cat in/data/../../canary", "grep -rn a in \u{1}w", "less in/data",
];
