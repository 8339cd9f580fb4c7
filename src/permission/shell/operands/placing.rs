//! What `mv`, `cp`, `ln` and the like would put where.

use super::{Checked, Named, Program, Reach, Relation, is_option, options, plain, refuse_if};
use crate::permission::protected::UNKNOWN;
use crate::permission::shell::programs::abbreviates;

/// Options by which a destination is replaced and not entered, sources go, or what stands below the
/// destination is the whole path of a source.
const WHOLE: [&str; 7] = [
    "--delete",
    "--remove-source-files",
    "--no-target-directory",
    "--no-dereference",
    "--parents",
    "--relative",
    "--files-from",
];

impl Reach<'_> {
    /// `mv`, `cp`, `ln` and the like.
    pub(super) fn placed(&self, program: Program, named: &[Named]) -> Checked {
        self.others(options(named))?;
        let operands: Vec<&Named> = plain(named).collect();
        let (links, into) = match program {
            Program::Copies { links, into } => (links, into),
            _ => ("", "t"),
        };
        let has = |letters: &str| {
            !letters.is_empty() && named.iter().any(|named| is_option(named, letters))
        };
        // `T` of `cp`, `mv` and `ln`, `n` and `h` of `ln`, `R` of `rsync`, which alone has no option
        // for the destination.
        let letters = match (program, into) {
            (Program::Links, _) => "Tnh",
            (_, "") => "R",
            _ => "T",
        };
        let replaces = |named: &Named| {
            let text = named.text.as_str();
            let is_one = |option: &&str| text.starts_with(*option) || abbreviates(text, option);
            let short = named.is_option() && !text.starts_with("--");
            WHOLE.iter().any(is_one) || short && text.contains(|c| letters.contains(c))
        };
        let whole = named.iter().any(replaces);
        let makes_links = program == Program::Links || has(links);
        // A value of an option that stands behind would look like the destination.
        let mut behind = named.iter().skip_while(|named| named.is_option());
        let mixed = behind.any(|named| named.is_option() && named.text != "--");
        // If the last word vanishes, the one before it is the destination.
        let last = operands.last();
        let stays = last.is_some_and(|last| last.word.is_one_word());
        let begin = operands.partition_point(|one| last.is_some_and(|last| one.at < last.at));
        let all = mixed || has(into) || begin == 0 || !stays;
        let (sources, destinations) = if all {
            (operands.as_slice(), operands.as_slice())
        } else {
            operands.split_at(begin)
        };
        for source in sources {
            // A link that a later call writes through is followed on disk.
            if makes_links || program == Program::Moves || whole {
                self.changed(source)?;
            } else {
                refuse_if(source, self.is_our_file(&source.text))?;
            }
        }
        // A link without a name gets that of what it leads to, here.
        if let (Program::Links, [source]) = (program, operands.as_slice()) {
            let is_near = entry(&source.text).is_none_or(|name| self.is_near(name));
            refuse_if(source, is_near)?;
        }
        // The destination may be the value of an option.
        let values = named
            .iter()
            .filter_map(|one| Some((one, option_value(&one.text, into)?)));
        let destinations = destinations.iter().map(|one| (*one, one.text.as_str()));
        for (named, text) in destinations.chain(values) {
            self.destination((named, text), sources, whole)?;
        }
        Ok(())
    }

    fn destination(
        &self,
        (named, text): (&Named, &str),
        sources: &[&Named],
        whole: bool,
    ) -> Checked {
        match self.relation(text) {
            Relation::Apart => Ok(()),
            Relation::Around if !whole && self.is_directory(text) => {
                let mut others = sources.iter().filter(|source| source.at != named.at);
                others.try_for_each(|source| {
                    // What a directory holds may be anything.
                    let is_near = entry(&source.text).is_none_or(|name| {
                        let paths = self.paths(text, true).into_iter();
                        let mut entries = paths.map(|path| path.join(name));
                        !name.contains(UNKNOWN)
                            && entries.any(|entry| self.relation_at(&entry) != Relation::Apart)
                    });
                    refuse_if(named, is_near)
                })
            }
            _ => refuse_if(named, true),
        }
    }

    fn is_directory(&self, text: &str) -> bool {
        let paths = self.paths(text, true);
        let resolve = self.guard.context.resolve;
        !paths.is_empty() && paths.iter().all(|path| resolve.is_directory(path))
    }
}

/// The name under which a source would stand in a directory; none for one whose contents would.
fn entry(text: &str) -> Option<&str> {
    let name = text.rsplit('/').next()?;
    (!matches!(name, "" | "." | "..")).then_some(name)
}

/// What stands behind an option of this letter in its own word, also written out.
fn option_value<'t>(text: &'t str, letter: &str) -> Option<&'t str> {
    if letter.is_empty() || !text.starts_with('-') {
        return None;
    }
    let (option, value) = text.split_once(if text.starts_with("--") { "=" } else { letter })?;
    let is_it = !text.starts_with("--") || option[2..].starts_with(letter);
    (is_it && !value.is_empty()).then_some(value)
}
