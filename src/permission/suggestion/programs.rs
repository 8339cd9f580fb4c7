//! How the words of well-known programs say what they do, which decides how narrow an entry can be.

/// What follows a program's name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Shape {
    /// Anything: only the program can be named.
    Plain,
    /// So many words that say what to do: `git log`, `gh pr view`.
    Verbs(usize),
    /// A package that is downloaded and run.
    Package,
    /// A script, a module or code.
    Interpreter,
    /// A script, or commands in a text.
    Shell,
    /// A command that it runs.
    Wrapper,
    /// A command that it runs as somebody else.
    Elevating,
    /// What it destroys or reaches: only the exact command can be named.
    Exact,
    /// Nothing that an entry should name.
    Never,
}

#[rustfmt::skip]
const SHAPES: &[(Shape, &[&str])] = &[
    (Shape::Verbs(1), &[
        "apk", "apt", "apt-get", "adb", "brew", "bun", "bundle", "cargo", "composer", "conda", "deno", "dnf", "docker",
        "docker-compose", "dotnet", "eas", "expo", "firebase", "flutter", "flyctl", "gem", "git", "go", "gradle", "gradlew",
        "helm", "heroku", "just", "kubectl", "launchctl", "make", "mvn", "netlify", "npm", "openssl", "pip", "pip3", "pipenv",
        "pipx", "pnpm", "podman", "poetry", "pulumi", "rake", "rustup", "sentry-cli", "systemctl", "task", "terraform", "uv",
        "vercel", "wrangler", "xcrun", "yarn", "yum",
    ]),
    (Shape::Verbs(2), &["aws", "az", "gcloud", "gh", "glab", "stripe", "supabase"]),
    (Shape::Package, &["bunx", "npx", "pnpx", "uvx"]),
    (Shape::Interpreter, &["node", "perl", "php", "python", "python3", "ruby", "ts-node", "tsx"]),
    (Shape::Shell, &["bash", "dash", "fish", "ksh", "sh", "zsh"]),
    (Shape::Wrapper, &["command", "env", "nice", "nohup", "stdbuf", "time", "timeout", "xargs"]),
    (Shape::Elevating, &["doas", "sudo"]),
    (Shape::Exact, &[
        "chgrp", "chmod", "chown", "crontab", "dd", "diskutil", "kill", "killall", "mkfs", "mount", "pkill", "reboot", "rm",
        "rmdir", "rsync", "scp", "sftp", "shred", "shutdown", "ssh", "truncate", "umount",
    ]),
    (Shape::Never, &[
        ".", "agent-skills", "alias", "builtin", "cd", "eval", "exec", "export", "popd", "pushd", "set", "source", "su", "trap",
        "unset",
    ]),
    (Shape::Plain, &[
        "awk", "black", "cat", "convert", "cp", "curl", "cwebp", "diff", "eslint", "ffmpeg", "ffprobe", "find", "grep", "jest",
        "jq", "ls", "magick", "mkdir", "mv", "mypy", "open", "pandoc", "pdftoppm", "pdftotext", "prettier", "pytest", "rg",
        "ruff", "sed", "soffice", "sqlite3", "tar", "tee", "touch", "tree", "tsc", "unzip", "vitest", "wget", "yq", "zip",
    ]),
];

/// After these words of a program, a further one says what to do.
const FURTHER: [&str; 13] = [
    "bun run",
    "deno task",
    "docker compose",
    "docker container",
    "docker image",
    "docker network",
    "docker volume",
    "npm run",
    "npm run-script",
    "pnpm run",
    "podman compose",
    "uv pip",
    "yarn run",
];
/// These words of a program are followed by a command.
const COMMANDS: [&str; 8] = [
    "bundle exec",
    "npm exec",
    "pipenv run",
    "pipx run",
    "pnpm dlx",
    "pnpm exec",
    "poetry run",
    "uv run",
];

/// Options of interpreters that are followed by code.
const CODE: [&str; 6] = ["-c", "-e", "-p", "-r", "--eval", "--print"];

/// How the words after a program's name are read.
pub fn shape(program: &str) -> Shape {
    let name = program.rsplit('/').next().unwrap_or(program);
    let found = SHAPES.iter().find(|(_, names)| names.contains(&name));
    match found {
        Some((shape, _)) => *shape,
        // `python3.12`, `mkfs.ext4`
        None if name.starts_with("python3.") => Shape::Interpreter,
        None if name.starts_with("mkfs.") => Shape::Exact,
        None => Shape::Plain,
    }
}

/// Whether it is the name of a program that skills often use, and hardly a word of a sentence.
pub fn is_known(program: &str) -> bool {
    let is_word = ["command", "just", "open", "task", "time"].contains(&program);
    let mut all = SHAPES.iter();
    !is_word && all.any(|(shape, names)| *shape != Shape::Never && names.contains(&program))
}

/// Whether another word behind these says what to do.
pub fn has_further(words: &str) -> bool {
    FURTHER.contains(&words)
}

/// Whether a command stands behind these words.
pub fn runs_a_command(words: &str) -> bool {
    COMMANDS.contains(&words)
}

/// Whether code stands behind this option of an interpreter.
pub fn takes_code(option: &str) -> bool {
    CODE.contains(&option)
}
