//! Classes of escape that attack found (docs/spec/restriction.md#shell-commands), each with its
//! invariant: how many words a word is, where a here-document ends, how a shell is told its text,
//! and which values reach a program. What honest commands of the same kinds look like stands beside
//! each.

use super::{all_run, git, none_runs};
use crate::scene::scene;

#[test]
fn a_word_of_unknown_count_is_allowed_only_where_order_is_free() {
    let find = scene().active("Bash(git:*) Bash(find:*) Bash(ls:*)");
    none_runs(
        &find,
        &[
            "bash -c 'test \"$@\"' x -v 'a[$(cmd)]'", "sh -c 'env CI=\"$@\" ls' x 1 cmd", "sh -c 'find . -name \"$@\"' x '*' -delete",
            "sh -c 'find . -name \"${@}\"' x '*' -delete", "sh -c 'find . -name \"${@:-x}\"' x y -delete", "sh -c 'find . -name a\"$@\"' x y -delete",
            "sh -c 'find . -name \"a $@\"' x y -delete", "sh -c 'find . -name \"${@%x}\"' x y -delete", "sh -c 'find \"$@\"' x . -delete",
            "sh -c 'find . \"$@\"' x -delete", "sh -c 'find \"./$@\"' x y -delete", "xargs sh -c 'find . -name \"$@\"' x", "xargs sh -c 'test \"$@\"' x",
            "find . -exec sh -c 'test \"$@\"' x {} +", "find . -exec sh -c 'find . -name \"$@\"' x {} +", "sh -c '[ \"$@\" ]' x -v 'a[$(cmd)]'",
            "sh -c '[ -n \"$@\" ]' x", "sh -c '[ \"$@\" = x ]' x", "sh -c '[ x = \"$@\" ]' x", "sh -c 'export CI=\"$@\"' x 1 PATH=/x", "sh -c 'readonly a=\"$@\"; ls' x 1 PATH=/x",
            "sh -c 'CI=\"$@\" ls' x", "sh -c 'env \"$@\" ls' x", "sh -c 'timeout \"$@\" ls' x", "sh -c 'timeout 5 \"$@\"' x ls", "sh -c 'nice -n \"$@\" ls' x",
            "sh -c 'xargs -n \"$@\" ls' x", "sh -c 'xargs \"$@\"' x", "sh -c 'command \"$@\"' x", "sh -c 'exec \"$@\"' x", "sh -c '\"$@\"' x", "sh -c 'cd \"$@\" && git a' x",
            "sh -c 'ls | head \"$@\"' x y", "sh -c 'ls | grep \"$@\"' x y", "sh -c 'ls | sort -k \"$@\"' x y", "sh -c 'set \"$@\"' x", "sh -c 'read \"$@\"' x",
            "sh -c 'printf \"$@\"' x -v 'a[$(cmd)]' y", "sh -c 'bash -c \"$@\"' x", "sh -c 'eval \"$@\"' x", "find . -name $! -delete", "find . -name $*", "[ -n $! ]", "export CI=$!",
            "test $@", "test \"$1\" $2", "find . -type \"$@\"", "sh -c 'command -v \"$@\"; find . -newer \"$@\"' x", "for a in \"$@\"; do find . -name $a; done",
        ],
    );
    all_run(
        &find,
        &[
            "sh -c 'git show \"$@\"' x a b", "sh -c 'ls \"$1\"' x a", "sh -c 'find . -name \"$1\"' x a", "xargs sh -c 'git show \"$@\"' x", "echo \"$@\"",
            "sh -c 'test -n \"$1\"' x a", "sh -c '[ \"$#\" -gt 0 ]' x a", "sh -c 'printf \"%s\\n\" \"$@\"' x a b", "printf '%s\\n' \"$@\"", "sh -c 'for a; do git show \"$a\"; done' x a",
            "sh -c 'for a in \"$@\"; do find . -name \"$a\"; done' x a", "find . -exec sh -c 'ls \"$@\"' x {} +", "sh -c 'find . -name \"*$1*\"' x a", "git add \"$@\"",
            "find . -name \"$*\"", "find . -name \"$(git a)\"", "find . -name \"a$?\" -mtime $((1+2))", "[ $? -eq 0 ]", "[ $# -gt 1 ] && git a", "[ $$ = 5 ]", "test ${#x} -gt 3",
            "wait $!",
        ],
    );
}

#[test]
fn a_here_document_holds_no_line_that_may_be_its_end() {
    let git = scene().active("Bash(git:*)");
    // The parser takes blanks behind the delimiter for nothing; shells do not.
    none_runs(
        &git,
        &[
            "git a <<'E'\nx\nE \n: '\nE\nrm x #'\n", "git a <<'E'\nx\nE\t\n: '\nE\nrm x #'\n", "git a <<-'E'\nx\n\tE \n: '\n\tE\nrm x #'\n",
            "git a <<'E'\nx\nE\u{a0}\n: '\nE\nrm x #'\n", "git a <<'E'\n E\n: '\nE\nrm x #'\n", "git a <<E\nE \n: $x'\nE\nrm x #'\n", "cat <<'E' | git a\nE \n'\nE\nrm x #'\n",
        ],
    );
    all_run(&git, &["git a <<'E'\nx E\nE\n", "git a <<'EOF'\nE\nEO F\nEOF\n", "git a <<-E\n\tx\n\tE\n", "git a <<A <<B\na\nA\nb\nB\n"]);
}

#[test]
fn a_here_document_in_parentheses_has_no_line_like_its_end() {
    let git = git();
    let ends = ["EOF)", "EOF )", "EOF) ; rm x", "EOFx", "EOF\t", "EOF;", "EOF\\", "EOF'", "EOF\"", "EOF EOF", "EOF#", "EOF|", "EOF)\""];
    for end in ends {
        for around in ["git a \"$(cat <<'EOF'\nX\nEOF\n)\"", "git a $(cat <<EOF\nX\nEOF\n)", "git a <(cat <<'EOF'\nX\nEOF\n)", "(cat <<'EOF'\nX\nEOF\n)",
            "x=$(cat <<'EOF'\nX\nEOF\n)", "git a \"$(git b $(cat <<'EOF'\nX\nEOF\n))\"", "( ( cat <<'EOF'\na\nX\nb\nEOF\n) )", "git a \"$(cat <<\"EOF\"\nX\nEOF\n)\"",
            "if git a; then (cat <<'EOF'\nX\nEOF\n); fi", "git a \"$(cat <<-'EOF'\n\t\tX\n\tEOF\n)\"", "bash -c \"(cat <<EOF\nX\nEOF\n)\""] {
            none_runs(&git, &[&around.replace('X', end)]);
        }
    }
    none_runs(&git, &["git a \"$(cat <<'EOF'\nx\nEOF)\"\nrm x\nEOF\n)\"", "git a \"$(cat <<'E'\nE) ; rm x\nE\n)\"", "(cat <<A <<B\nB\nA\nBx\nB\n)"]);
    all_run(
        &git,
        &[
            "git commit -m \"$(cat <<'EOF'\nfix: x\n\n- the EOF is read\n EOF) too\nEO F\neof\nEOF\n)\"", "cat <<'EOF'\nEOF)\nEOFx\nEOF", "(cat <<'EOF'\nx (y) 'z'\nEOF\n)",
            "git commit -F - <<'EOF'\nEOF) and more\nEOF", "git a \"$(cat <<-'EOF'\n\tx\n\tEOF\n)\"", "git a <(cat <<'EOF'\n)\nEOF\n)", "(cat <<A <<B\nB\nA\nA\nB\n)",
        ],
    );
}

#[test]
fn a_shell_takes_its_command_string_in_one_form() {
    let git = git();
    let options = [
        "-", "--", "- -c", "-- -c", "-c --", "-c -", "-c -e", "-c +e", "+e -c", "-x -c", "-xc", "-ic", "-i -c", "-s -c", "-sc", "-n -c", "-p -c", "-cx", "-ce",
        "-O extglob -c", "+O extglob -c", "-o posix -c", "-o xtrace -c", "-oc pipefail", "-euxo pipefail -c", "--posix -c", "--norc -c", "--rcfile x -c", "--init-file x -c",
        "--login -c", "--verbose -c", "--debugger -c", "-D -c", "-a -c", "-v -c", "-r -c", "-m -c", "-b -c", "-h -c", "-k -c", "-C -c", "-f -c", "-B -c", "-H -c", "-P -c", "-T -c", "-E -c",
        "-o -c", "-e x -c", "\"$x\" -c", "$x -c", "-c \"$x\"", "-c $x", "-$x", "'' -c", "-o pipefail -e -c",
    ];
    for shell in ["bash", "sh", "dash"] {
        for option in options {
            none_runs(&git, &[&format!("{shell} {option} 'git a'"), &format!("timeout 5 {shell} {option} 'git a'")]);
        }
        for fine in ["-c", "-lc", "-l -c", "-leu -c", "-e -c", "-ec", "-u -c", "-eu -c", "-euc", "-euo pipefail -c", "-e -u -o pipefail -c", "-o pipefail -c"] {
            all_run(&git, &[&format!("{shell} {fine} 'git a'"), &format!("{shell} {fine} 'git show \"$1\"' x y")]);
        }
        none_runs(&git, &[&format!("{shell} x.sh"), &format!("{shell} -e x.sh"), &format!("{shell} -s a"), &format!("./{shell} -c 'git a'"), &format!("/opt/bin/{shell} -c 'git a'"), &format!("{shell} -c"), &format!("{shell} -c ''")]);
    }
    none_runs(&git, &["zsh -c 'git a'", "ksh -c 'git a'", "ash -c 'git a'", "busybox sh -c 'git a'", "rbash -c 'git a'", "bash5 -c 'git a'", "sh -c 'sh - -c x'", "sh -c 'git a' | sh -s"]);
}

#[test]
fn a_program_is_given_plain_values_only() {
    let make = scene().active("Bash(make:*) Bash(git:*)");
    let values = [
        "'$(shell x)'", "\"\\$(shell x)\"", "\\$\\(shell\\ x\\)", "'${shell x}'", "'`x`'", "'a b'", "'a;b'", "'a|b'", "'a&b'", "'*'", "'a[0]'", "'{a,b}'", "'~'", "~", "'!x'", "'\"'", "\"'\"",
        "'\\'", "'<x'", "'>x'", "'#x'", "'a\nb'", "'a\tb'", "'^'", "\"$x\"", "$x", "$(git x)", "\"$(git x)\"", "`git x`", "a$x", "$1", "\"$@\"", "*", "{a,b}", "'é'", "$((1+2))", "<(git x)",
    ];
    for value in values {
        for around in [
            "DEBUG=X make test", "CI=X make", "LANG=X git a", "LC_ALL=X make", "TZ=X make", "TERM=X make", "NODE_ENV=X make", "RUST_LOG=X make", "export DEBUG=X; make", "env DEBUG=X make",
            "DEBUG=X; make", "CI=1 DEBUG=X make", "readonly DEBUG=X; make", "timeout 5 env DEBUG=X make", "bash -c \"DEBUG=X make\"", "DEBUG=X timeout 5 make", "export CI=1 DEBUG=X", "LINES=X make", "COLUMNS=X make",
        ] {
            let command = around.replace('X', value);
            // Within double quotes another value stands there.
            if !around.contains("bash") || value.chars().all(|c| "*{},ab".contains(c)) {
                none_runs(&make, &[&command]);
            }
        }
    }
    none_runs(
        &make,
        &[
            "for DEBUG in '$(shell x)'; do make; done", "read DEBUG <<< '$(shell x)'; make", "read -r CI; make", "for LANG in a b; do make; done", "COLUMNS=x make", "LINES=a make", "LINES=1+1 make",
            "export DEBUG; DEBUG='$(shell x)'; make", "x=1 make", "export x=1", "env x=1 make", "env 'DEBUG=$(shell x)' make", "env \"DEBUG=$x\" make", "'DEBUG'=1 make",
        ],
    );
    all_run(
        &make,
        &[
            "DEBUG=1 make", "DEBUG=app:*-x make".replace('*', "").as_str(), "CI=true make", "LANG=C.UTF-8 git a", "LC_ALL=en_US.UTF-8 make", "TZ=Europe/Rome git a", "RUST_LOG=a=debug,b::c=info make", "NODE_ENV=test make",
            "export CI=1 NO_COLOR=1; make", "env CI=1 make", "DEBUG= make", "CI='1' make", "CI=\"1\" make", "COLUMNS=80 LINES=24 git a", "TERM=xterm-256color make", "DEBUG=1; make", "x='$(shell x)'; make",
            "readonly x='a b'; make", "env 'CI=1' make", "TZ=UTC+3 make", "DEBUG=a@b%c make",
        ],
    );
}

#[test]
fn a_descriptor_has_one_digit() {
    none_runs(
        &git(),
        &["git a 33>&1", "git a 12>&1", "git a;33>&1", "git a `git b 10>&2`", "33>&1 git a"],
    );
    all_run(&git(), &["git a 2>&1", "git a1 2>&1 2>&1", "git a11 >&2"]);
}

#[test]
fn backslashes_inside_backticks_are_refused_within_quotes_too() {
    none_runs(
        &git(),
        &[
            r#"git a `eval 'git "\$(cmd)"'`"#, r#"git a `sh -c 'git "\$(cmd)" b'`"#, r"git a `git '\\b'`", r"git a `git '\`cmd\`'`",
        ],
    );
    all_run(&git(), &["git a `git 'b c'`", r"git a $(git '\$b')"]);
}

#[test]
fn a_here_document_ends_its_substitution() {
    none_runs(
        &git(),
        &[
            "git $(git a <<E\nx\nE\nPAGER=cmd; git b)", "git $(git a <<E; git b; git c\nx\nE\n)", "git $(git a <<E & git b\nx\nE\n)", "git \"$(git a <<E | git b\nx\nE\ngit c; git d)\"",
            "git $( (git a <<E\nx\nE\n); git b; git c)", "git $({ git a <<E\nx\nE\n}; git b; git c)", "git <(git a <<E\nx\nE\ngit b; git c)", "git $(while git a <<E\nx\nE\ndo x=1; git b; done)",
            "git $(if git a; then git b <<E\nx\nE\nfi; git c; git d)", "git $(case a in a) git b <<E\nx\nE\n;; esac; git c; git d)",
        ],
    );
    all_run(
        &git(),
        &[
            "git $(git b; git a <<E\nx\nE\n)", "git \"$(git a <<E | git b\nx\nE\n)\"; git c; git d", "git $(git a <<A <<B\nx\nA\ny\nB\n\n )", "git a <<E; git b; git c\nx\nE\ngit d; git e", "git $(git $(git a <<E\nE\n); git b; git c)",
        ],
    );
}

#[test]
fn a_shell_runs_the_one_line_that_it_is_given_as_input() {
    let scene = scene().active("Bash(git:*) Bash(head:*) Bash(cat:*)");
    all_run(&scene, &["bash <<'EOF'\ngit a && git b\nEOF", "sh <<\"E\"\ngit a\nE", "bash <<'E'; git b\ngit a\nE"]);
    none_runs(
        &scene,
        &[
            // The first command may read a part of the second, of which the shell then reads the rest.
            "bash <<'E'\nhead -c 9\ngit ' ; rm x # '\nE", "bash <<'E'\ngit a\ngit b\nE", "bash <<'E'\nrm x\nE", "bash <<'E'\ngit a \\\nE", "bash <<'E'\n\ngit a\nE",
            // Behind a pipe zsh hands on both.
            "echo 'rm x' | bash <<'E'\ngit a\nE", "bash <<'E' | sh <<'F'\ngit a\nE\ngit b\nF",
            "bash <<E\n$x\nE", "bash <<E\ngit a\nE", "bash <<'E' <x\ngit a\nE", "bash <<'E' 2>x\ngit a\nE", "bash x <<'E'\ngit a\nE", "bash -s <<'E'\ngit a\nE", "zsh <<'E'\ngit a\nE",
            "bash 3<<'E'\ngit a\nE", "bash <<'E'\nbash <<F\nE", "x=bash; $x <<'E'\nrm x\nE", "bash <<'E'\ncat x | bash\nE", "PATH=x bash <<'E'\ngit a\nE", "bash <<<'git a'",
        ],
    );
}

#[test]
fn a_script_is_granted_with_the_shell_that_runs_it() {
    let scripts = scene().active("Bash(scripts/a.sh:*) Bash(./b.sh x)");
    all_run(&scripts, &["bash scripts/a.sh", "sh scripts/a.sh x y", "/bin/bash scripts/a.sh", "timeout 5 bash scripts/a.sh", "bash ./b.sh x"]);
    none_runs(
        &scripts,
        &[
            "bash ./b.sh", "bash a.sh", "bash -x scripts/a.sh", "bash - scripts/a.sh", "bash -c scripts/b.sh", "zsh scripts/a.sh", "bash scripts/../x.sh", "cd sub && bash scripts/a.sh",
            "bash $x/scripts/a.sh", "bash scripts/$x", "./bash scripts/a.sh", "python3 scripts/a.sh", "BASH_ENV=x bash scripts/a.sh", "bash ~/scripts/a.sh", "bash scripts/a.sh > x",
        ],
    );
}

#[test]
fn git_c_within_the_project_is_followed() {
    let git = scene().active("Bash(git status:*) Bash(git add src/x)");
    all_run(&git, &["git -C sub status", "git -C ./a/b status -s", "git -C /p/sub status", "git -C a -C b status", "for d in a b; do git -C sub status; done", "git -C sub status && git status"]);
    none_runs(
        &git,
        &[
            "git -C .. status", "git -C / status", "git -C sub -C ../.. status", "git -C $x status", "git -C \"$x\" status", "git -C ~ status", "git -C '~' status", "git -C '' status", "git -C status",
            "git -C sub push", "git -C sub -c core.pager=x status", "git -C sub --git-dir=x status", "git -C sub add src/x", "git -c core.pager=x -C sub status", "cd sub && git -C ../.. status",
            "./git -C sub status", "GIT_DIR=x git -C sub status", "git -Csub status",
        ],
    );
}

#[test]
fn a_variable_that_says_how_a_program_runs_may_be_set() {
    let serve = scene().active("Bash(serve:*)");
    all_run(
        &serve,
        &["API_URL=http://localhost:1 serve", "APP_ENV=test LOG_LEVEL=debug serve x", "env REDIS_HOST=h serve", "PORT=1 REQUEST_TIMEOUT=30 DB_PORT=5432 serve", "CI=1 API_URL=h timeout 5 serve",
          "REPO_URL=$(serve x); serve \"$REPO_URL\"", "X_URL='a b'; serve", "PORT=$(serve); echo $PORT", "DB_PORT=${DB_PORT:-5432}; serve", "while read -r API_URL; do serve \"$API_URL\"; done",
          "for BASE_URL in a b; do serve $BASE_URL; done", "BASE_URL=http://h; serve \"$BASE_URL/x\""],
    );
    none_runs(
        &serve,
        &[
            "GIT_URL=x serve", "PIP_INDEX_URL=x serve", "UV_INDEX_URL=x serve", "DOCKER_HOST=x serve", "NPM_CONFIG_URL=x serve", "BASH_ENV=x serve", "SSH_HOST=x serve", "OPENAI_BASE_URL=x serve",
            "AWS_ENDPOINT_URL=x serve", "api_url=x serve", "API_URL='a b' serve", "API_URL=$(id) serve", "API_URL=\"$x\" serve", "API_URL='`id`' serve", "API_FILE=x serve", "export API_URL=h; serve", "A_ENV='$(x)'; export A_ENV; serve", "A_ENV=x eval serve", "A_ENV=x : ; A_ENV='$(y)'; serve", "X_URLS=x serve",
        ],
    );
    let fetch = scene().active("Bash(curl https://h/*)");
    all_run(&fetch, &["BASE_URL=https://h; curl \"$BASE_URL/x\""]);
    none_runs(&fetch, &["BASE_URL=https://i; curl \"$BASE_URL/x\"", "BASE_URL=https://h; BASE_URL=https://i; curl \"$BASE_URL/x\""]);
}

#[test]
fn a_backslash_ends_a_line_within_double_quotes() {
    let git = git();
    all_run(&git, &["git -d \"a=1&\\\nb=2\"", "git \"{\\\n}\"", "git \"${x}\\\ny\"", "git \"a\\\n$x\""]);
    none_runs(
        &git,
        &[
            "git \"$\\\n(rm x)\"", "git \"$x\\\n[y]\"", "git \"$@\\\n[y]\"", "git \"$x:\\\nh\"", "git \"$x\\\ny\"", "git \"$\\\n\\\n(rm x)\"", "git \"`\\\nrm x`\"", "git \"$$\\\n(rm x)\"",
            "git a\\\nb", "git \"a\"\\\n\"b\"",
        ],
    );
}

#[test]
fn an_entry_may_name_a_variable_of_the_host() {
    let host = scene().active("Bash(${PLUGIN_ROOT}/scripts/*.sh:*) Bash(git:*) Write");
    all_run(
        &host,
        &["${PLUGIN_ROOT}/scripts/a.sh x", "\"${PLUGIN_ROOT}/scripts/a.sh\"", "\"${PLUGIN_ROOT}\"/scripts/a.sh y && git a", "git a | ${PLUGIN_ROOT}/scripts/a.sh", "for x in a; do ${PLUGIN_ROOT}/scripts/a.sh; done"],
    );
    none_runs(
        &host,
        &[
            "${PLUGIN_ROOT}/scripts/../a.sh", "${PLUGIN_ROOT}/scripts/$x.sh", "${PLUGIN_ROOT}/a.sh", "${OTHER_ROOT}/scripts/a.sh", "$PLUGIN_ROOT/scripts/a.sh", "${PLUGIN_ROOT:-x}/scripts/a.sh",
            "PLUGIN_ROOT=x; ${PLUGIN_ROOT}/scripts/a.sh", "PLUGIN_ROOT=x ${PLUGIN_ROOT}/scripts/a.sh", "export PLUGIN_ROOT=x; ${PLUGIN_ROOT}/scripts/a.sh", "read PLUGIN_ROOT; ${PLUGIN_ROOT}/scripts/a.sh",
            "for PLUGIN_ROOT in x; do ${PLUGIN_ROOT}/scripts/a.sh; done", "eval \"$x\"; ${PLUGIN_ROOT}/scripts/a.sh", "git a > ${PLUGIN_ROOT}/scripts/a.sh", "cd ${PLUGIN_ROOT}/scripts && git a",
            "cd sub && ${PLUGIN_ROOT}/scripts/a.sh", "${x:=y}; ${PLUGIN_ROOT}/scripts/a.sh", "bash -c '${PLUGIN_ROOT}/scripts/a.sh'", "'${PLUGIN_ROOT}/scripts/a.sh'\"$x\"", "env PLUGIN_ROOT=x bash -c '${PLUGIN_ROOT}/scripts/a.sh'",
        ],
    );
}

#[test]
fn a_star_in_double_quotes_of_an_entry_is_part_of_a_word() {
    let quoted = scene().active("Bash(bash \"*/scripts/*\") Bash(find . -name '*.py') Bash(\"$HOME/bin/x\":*)");
    all_run(&quoted, &["bash /skills/s/scripts/a.sh", "bash './a b/scripts/c.sh'", "find . -name '*.py'", "~/bin/x y"]);
    none_runs(
        &quoted,
        &[
            "bash x y/scripts/z", "bash -c 'rm x' /scripts/a", "bash a/scripts/b c", "bash a/scripts/../b", "bash ../a/scripts/b", "bash $x/scripts/a", "bash a/scripts/$x", "find . -name 'x.py'",
            "find . -name x -delete -o -name y.py", "/bin/x", "bash '-c x/scripts/y'", "bash -x/scripts/y",
        ],
    );
}
