//! Which programs remove, move, replace, link or change their operands, and which only read them
//! (docs/spec/restriction.md#operands): the only table of them, and how each takes its operands.

use super::word::Word;

/// What a program does to its operands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Program {
    /// Removes or changes each operand.
    Changes {
        /// Letters of the options that apply it to whole trees.
        whole_trees: &'static str,
    },
    /// Moves all but the last operand to the last.
    Moves,
    /// Copies all but the last operand to the last.
    Copies {
        /// Letters of the options that create links instead.
        links: &'static str,
        /// The letter of the option that names the destination.
        into: &'static str,
    },
    /// Makes the last operand a link to the others.
    Links,
    /// `find`: its actions follow the paths.
    Find,
    /// `git`: its subcommand decides.
    Git,
    /// `sed`, which changes files if an option says so.
    Sed,
    /// `dd`: `of=FILE`.
    Dd,
    /// Only reads.
    Reads,
    /// Unknown.
    Other,
}

use Program::{Changes, Copies, Dd, Find, Git, Links, Moves, Other, Reads, Sed};

const ONE_BY_ONE: Program = Changes { whole_trees: "" };

static TABLE: &[(&str, Program)] = &[
    ("rm", Changes { whole_trees: "rR" }),
    ("rmdir", ONE_BY_ONE),
    ("unlink", ONE_BY_ONE),
    ("shred", ONE_BY_ONE),
    ("truncate", ONE_BY_ONE),
    ("tee", ONE_BY_ONE),
    ("chmod", Changes { whole_trees: "R" }),
    ("chown", Changes { whole_trees: "R" }),
    ("chgrp", Changes { whole_trees: "R" }),
    ("mv", Moves),
    (
        "cp",
        Copies {
            links: "ls",
            into: "t",
        },
    ),
    (
        "install",
        Copies {
            links: "",
            into: "t",
        },
    ),
    (
        "rsync",
        Copies {
            links: "",
            into: "",
        },
    ),
    ("ln", Links),
    ("link", Links),
    ("dd", Dd),
    ("sed", Sed),
    ("find", Find),
    ("git", Git),
    ("cat", Reads),
    ("head", Reads),
    ("tail", Reads),
    ("ls", Reads),
    ("grep", Reads),
    ("egrep", Reads),
    ("fgrep", Reads),
    ("rg", Reads),
    ("wc", Reads),
    ("diff", Reads),
    ("stat", Reads),
    ("file", Reads),
];

impl Program {
    /// Looks a program up by base name; GNU tools on other systems begin with `g`.
    pub fn of(name: &str) -> Self {
        let base = name.rsplit('/').next().unwrap_or(name);
        let find = |base: &str| TABLE.iter().find(|(name, _)| *name == base);
        let gnu = base.strip_prefix('g').and_then(find);
        find(base).or(gnu).map_or(Other, |(_, program)| *program)
    }

    /// Whether it removes, moves or changes its operands.
    pub fn changes(self) -> bool {
        !matches!(self, Reads | Other | Git | Find)
    }
}

/// The effect of a `git` command by its subcommand, and the words after that.
pub fn git(arguments: &[Word]) -> (Program, &[Word]) {
    const VALUED: [&str; 8] = [
        "-C",
        "-c",
        "--git-dir",
        "--work-tree",
        "--namespace",
        "--exec-path",
        "--super-prefix",
        "--config-env",
    ];
    let mut at = 0;
    while let Some(text) = arguments.get(at).and_then(Word::text) {
        if !text.starts_with('-') {
            break;
        }
        at += if VALUED.contains(&text) { 2 } else { 1 };
    }
    let verb = arguments.get(at).and_then(Word::text);
    let behind = arguments.get(at + 1..).unwrap_or_default();
    let is = |word: &Word, options: &[&str]| {
        let text = word.text().unwrap_or_default();
        options.iter().any(|option| text.starts_with(option))
    };
    let program = match verb {
        Some("clean") if behind.iter().any(|word| is(word, &["-n", "--dry-run"])) => Reads,
        // Every removal may be of a tree.
        Some("clean" | "rm" | "mv") => Changes { whole_trees: "" },
        Some("log" | "diff" | "show" | "status" | "blame") => {
            let writes = behind.iter().any(|word| is(word, &["-o", "--ou"]));
            if writes { Other } else { Reads }
        }
        _ => Other,
    };
    (program, behind)
}
