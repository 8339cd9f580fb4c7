//! Which programs remove, move, replace, link or change their operands, and which only read them
//! (docs/spec/restriction.md#operands): the only table of them, and how each takes its operands.

use super::name_list::Names;
use super::runners::base;
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
const WHOLE_TREES: Program = Changes { whole_trees: "R" };

static TABLE: &[(Names, Program)] = &[
    (Names("rm"), Changes { whole_trees: "rR" }),
    (Names("rmdir unlink shred truncate tee"), ONE_BY_ONE),
    (Names("chmod chown chgrp"), WHOLE_TREES),
    (Names("mv"), Moves),
    (Names("cp"), copies("ls", "t")),
    (Names("install"), copies("", "t")),
    (Names("rsync"), copies("", "")),
    (Names("ln link"), Links),
    (Names("dd"), Dd),
    (Names("sed"), Sed),
    (Names("find"), Find),
    (Names("git"), Git),
    (
        Names("cat head tail ls grep egrep fgrep rg wc diff stat file"),
        Reads,
    ),
];

const fn copies(links: &'static str, into: &'static str) -> Program {
    Copies { links, into }
}

impl Program {
    /// Looks a program up by base name; GNU tools on other systems begin with `g`.
    pub fn named(name: &str) -> Self {
        let base = base(name);
        let find = |base: &str| TABLE.iter().find(|(names, _)| names.has(base));
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
    const VALUED: Names =
        Names("-C -c --git-dir --work-tree --namespace --exec-path --super-prefix --config-env");
    let mut at = 0;
    while let Some(text) = arguments.get(at).and_then(Word::text) {
        if !text.starts_with('-') {
            break;
        }
        at += if VALUED.has(text) { 2 } else { 1 };
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
