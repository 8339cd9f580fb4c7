//! Steps as Claude Code takes them in real work, under the lists that skills have for such work.

use super::{World, claude_code};

/// A command, and why the list refuses it, if it does.
type Step = (&'static str, Option<&'static str>);

/// Under `Read, Bash(git:*)`.
const GIT: &[Step] = &[
    ("git status --short", None),
    ("git diff --stat HEAD~3", None),
    ("git log --oneline -20 -- src/", None),
    ("git log -p --follow src/main.rs | head -200", None),
    ("git show HEAD:src/main.rs | sed -n '1,80p'", None),
    ("git blame -L 10,40 src/main.rs", None),
    ("git branch -a --sort=-committerdate | head -20", None),
    ("git checkout -b feature/login-form", None),
    ("git switch main && git pull --rebase origin main", None),
    (
        r#"git add -A && git commit -m "auth: add login form""#,
        None,
    ),
    (
        r#"git commit -m "$(cat <<'EOF'
auth: add login form

Validates the address before it is sent.
EOF
)""#,
        None,
    ),
    (
        r#"git add src/login.rs tests/login.rs && git commit -m 'fix: don'"'"'t panic on an empty name' && git status"#,
        None,
    ),
    ("git push -u origin HEAD", None),
    (
        "git push --force-with-lease origin feature/login-form 2>&1 | tail -5",
        None,
    ),
    (
        "BASE=$(git merge-base main HEAD); git log --oneline $BASE..HEAD",
        None,
    ),
    (
        "git diff $(git merge-base main HEAD)...HEAD -- '*.rs'",
        None,
    ),
    (
        r#"cd "$(git rev-parse --show-toplevel)" && git status"#,
        None,
    ),
    ("git -C ../other status", None),
    ("git stash push -m wip -- src/main.rs; git stash list", None),
    ("git rebase main || git rebase --abort", None),
    (
        "git log --format='%h %an %s' --since='2 weeks ago' | grep -i fix",
        None,
    ),
    (
        "git log --format='%ae' | sort | uniq -c | sort -rn | head",
        None,
    ),
    (r"git ls-files | grep -E '\.rs$' | wc -l", None),
    (
        r#"for b in $(git branch --merged | grep -v main); do git branch -d "$b"; done"#,
        None,
    ),
    (
        r#"git tag -a v1.2.0 -m "Release 1.2.0" && git push origin v1.2.0"#,
        None,
    ),
    ("git restore --staged . && git restore .", None),
    ("git worktree add ../hotfix -b hotfix main", None),
    ("git cherry-pick abc1234 && git log -1 --stat", None),
    (
        "git bisect start HEAD v1.0.0; git bisect run git grep -q TODO",
        None,
    ),
    (
        "GIT_EDITOR=true git rebase --continue",
        Some("a variable that names a program to run"),
    ),
    (
        "git config --get remote.origin.url; git remote -v; git rev-parse --abbrev-ref HEAD",
        None,
    ),
];

/// Under entries for reading, git, npm and pytest.
const MIXED: &[Step] = &[
    ("npm test", None),
    ("npm test -- --watch=false 2>&1 | tail -40", None),
    ("npm run build && npm run lint", None),
    ("npm run lint -- --fix; git diff --stat", None),
    ("python3 -m pytest -q", None),
    (
        r#"python3 -m pytest tests/test_login.py -k "empty" -x 2>&1 | tail -60"#,
        None,
    ),
    ("cat package.json", None),
    ("cat src/index.ts | head -100", None),
    (r#"grep -rn "TODO" src --include=*.ts"#, None),
    (r#"rg -n "loginForm" src | head -20"#, None),
    (
        "find . -name '*.test.ts' -not -path './node_modules/*'",
        None,
    ),
    ("ls -la src && cat src/login.ts", None),
    ("sed -n '20,60p' src/login.ts", None),
    ("wc -l src/*.ts", None),
    ("head -50 README.md; tail -20 CHANGELOG.md", None),
    ("git diff | head -100", None),
    (
        r#"git add -A && git commit -m "test: cover empty names""#,
        None,
    ),
    ("cd frontend && npm test", None),
    (
        "npm test > /tmp/test.log 2>&1; tail -50 /tmp/test.log",
        None,
    ),
    ("CI=true npm test", None),
    ("NODE_ENV=test npm run test:unit", None),
    ("python3 -m pytest --co -q | wc -l", None),
    ("git status && npm run typecheck", None),
    ("jq '.scripts' package.json", None),
    ("cat package.json | jq -r '.version'", None),
    (
        "diff <(git show HEAD:package.json) package.json",
        Some("`diff` is in no entry, and no reader"),
    ),
    ("test -f .env && echo yes || echo no", None),
    (
        r#"for f in src/*.ts; do grep -c import "$f"; done"#,
        Some("an operand of a reader is a plain path"),
    ),
];

/// Each step passes or is refused as its row says, in a repository.
fn go_as_they_say(list: &str, steps: &[Step], at_least: usize) {
    let world = World::of(&claude_code::FORM).skill("work", &format!("allowed-tools: {list}"));
    for file in [
        "package.json",
        "src/login.ts",
        "src/index.ts",
        "src/main.rs",
        "README.md",
        "CHANGELOG.md",
    ] {
        let path = world.project().join(file);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, "").unwrap();
    }
    std::fs::create_dir_all(world.project().join("frontend")).unwrap();
    for dir in ["objects", "refs"] {
        std::fs::create_dir_all(world.project().join(".git").join(dir)).unwrap();
    }
    for (file, text) in [("HEAD", "ref: refs/heads/main\n"), ("config", "")] {
        std::fs::write(world.project().join(".git").join(file), text).unwrap();
    }
    assert!(world.activate("work").is_silent());
    for (command, refused) in steps {
        let answer = world.run(command);
        assert_eq!(
            answer.is_denied(),
            refused.is_some(),
            "{command}: {answer:?}"
        );
    }
    let passed = steps
        .iter()
        .filter(|(_, refused)| refused.is_none())
        .count();
    assert!(passed >= at_least, "{passed} of {}", steps.len());
}

#[test]
fn steps_with_git_pass() {
    go_as_they_say("Read, Bash(git:*)", GIT, 28);
}

#[test]
fn mixed_steps_pass() {
    let list = "Read, Edit, Grep, Glob, Bash(git:*), Bash(npm test:*), Bash(npm run:*), \
                Bash(python3 -m pytest:*)";
    go_as_they_say(list, MIXED, 24);
}
