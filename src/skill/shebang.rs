//! The `#!` line of a script, parsed into program and arguments. It does not know which programs
//! exist.

/// A `#!` line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Shebang {
    /// A path, or for `env` the name that it would look up.
    pub program: String,
    /// Arguments before the script's path.
    pub args: Vec<String>,
}

impl Shebang {
    /// The `#!` line at the start of a file; `None` without one, or if it is empty.
    ///
    /// More lenient than the kernel, so that a file runs alike everywhere: it accepts a byte order
    /// mark before the line, a carriage return after it and several arguments.
    pub fn parse(head: &[u8]) -> Option<Self> {
        let head = head.strip_prefix("\u{feff}".as_bytes()).unwrap_or(head);
        let line = head
            .strip_prefix(b"#!")?
            .split(|&byte| byte == b'\n')
            .next()?;
        let line = String::from_utf8_lossy(line);
        let line = line.trim();
        let (first, rest) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
        let rest = rest.trim_start();
        let is_env = base_name(first) == "env";
        let split = ["--split-string=", "--split-string ", "-S"];
        let split = split.iter().find_map(|option| rest.strip_prefix(option));
        // What `env` would refuse, such as an unclosed quotation mark, is split at white space.
        let split = split.filter(|_| is_env).and_then(shlex::split);
        let by_space = || rest.split_whitespace().map(str::to_owned).collect();
        let mut args: Vec<String> = split.unwrap_or_else(by_space);
        // Leave further options and assignments to `env` itself.
        let is_name = |word: &String| !word.starts_with('-') && !word.contains('=');
        let program = if is_env && args.first().is_some_and(is_name) {
            args.remove(0)
        } else {
            first.to_owned()
        };
        (!base_name(first).is_empty()).then_some(Self { program, args })
    }

    /// The program's file name.
    pub fn name(&self) -> &str {
        base_name(&self.program)
    }
}

fn base_name(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(line: &str) -> Option<Vec<String>> {
        let shebang = Shebang::parse(line.as_bytes())?;
        Some([vec![shebang.program], shebang.args].concat())
    }

    #[test]
    fn shebangs_as_they_are_found() {
        for (line, expected) in [
            ("#!/bin/bash", "/bin/bash"),
            ("#!/bin/sh -e -u\r\nrest", "/bin/sh|-e|-u"),
            ("#! /usr/bin/perl  -w\n", "/usr/bin/perl|-w"),
            ("#!/usr/bin/env python3\r\n", "python3"),
            ("#!/usr/bin/env python3 -u\n", "python3|-u"),
            ("#!/usr/bin/env -S uv run --script\n", "uv|run|--script"),
            ("#!/usr/bin/env -Suv run", "uv|run"),
            ("#!/usr/bin/env --split-string=deno run", "deno|run"),
            (
                "#!/usr/bin/env -S deno run --allow-env='A B'",
                "deno|run|--allow-env=A B",
            ),
            (r#"#!/usr/bin/env -S a "b \" c" d\ e '' "#, "a|b \" c|d e|"),
            ("#!/usr/bin/env -S X=1 python3", "/usr/bin/env|X=1|python3"),
            ("#!/usr/bin/env -i sh", "/usr/bin/env|-i|sh"),
            ("#!/usr/bin/env", "/usr/bin/env"),
        ] {
            assert_eq!(parsed(line).unwrap().join("|"), expected, "{line}");
        }
    }

    #[test]
    fn no_shebang() {
        for text in [
            "",
            "#!",
            "#!\n/bin/sh",
            "#! \r\n",
            "# !/bin/sh",
            " #!/bin/sh",
        ] {
            assert_eq!(parsed(text), None, "{text:?}");
        }
    }
}
