//! What `mv`, `cp`, `ln` and the like would put where.

use std::cell::RefCell;
use std::path::{Path, PathBuf};

use super::{
    Checked, Fault, NOT_KNOWN, Operand, Program, Reach, Relation, WHY_PROTECTED, is_open,
    is_option, options, plain, refuse_if,
};
use crate::permission::path::normalise;
use crate::permission::shell::reach::MOVES_HERE;
use crate::permission::shell::runners::abbreviates;
use crate::permission::shell::word::{Arity, Piece, Word};
use crate::sys::name_list::Names;

impl Reach<'_> {
    /// `mv`, `cp`, `ln` and the like.
    pub(super) fn placed(&self, program: Program, arguments: &[Word]) -> Checked {
        self.others(options(arguments))?;
        let words: Vec<&Word> = plain(arguments).collect();
        let is_one = |word: &Word| word.begins_option() && word.text() != Some("--");
        let mut behind = arguments.iter().skip_while(|word| word.begins_option());
        // A value of an option that stands behind would look like the destination.
        let mixed = behind.any(is_one);
        let (links, into, flags) = match program {
            Program::Copies { links, into, flags } => (links, into, flags),
            _ => ("", "t", ""),
        };
        let has = |letters: &str| {
            let one = |word: &Word| is_option(word, letters);
            !letters.is_empty() && arguments.iter().any(one)
        };
        // If the last word vanishes, the one before it is the destination.
        let stays = words.last().is_some_and(|word| word.is_one_word());
        let all = mixed || has(into) || words.len() < 2 || !stays;
        // Those of `rsync` that remove what is not among the sources, or the sources themselves,
        // and the one by which the destination is not entered.
        let removing = |word: &Word| {
            let short = word.begins_option() && !word.prefix().starts_with("--");
            is_long(
                word,
                &["--delete", "--remove-source-files", "--no-target-directory"],
            ) || short && word.prefix().contains('T')
                || program == Program::Links
                    && (short && word.prefix().contains(['n', 'h'])
                        || is_long(word, &["--no-dereference"]))
        };
        let open = arguments.iter().any(is_open);
        let removes = open || arguments.iter().any(removing);
        // What stands below the destination is then the whole path of a source. `-R` of `rsync`,
        // which alone has no option for the destination, does that, too.
        let keeping = |word: &Word| {
            let short = word.begins_option() && !word.prefix().starts_with("--");
            is_long(word, &["--parents", "--relative", "--files-from"])
                || short && into.is_empty() && word.prefix().contains('R')
        };
        let keeps_paths = open || arguments.iter().any(keeping);
        // The destination may be the value of an option.
        let named: Vec<Word> = arguments
            .iter()
            .filter_map(|word| option_value(word, into))
            .collect();
        let (mut destinations, sources) = match words.split_last() {
            Some((last, sources)) if !all => (vec![*last], sources),
            _ => (words.clone(), words.as_slice()),
        };
        destinations.extend(&named);
        let makes_links = program == Program::Links || has(links);
        // The destination is unknown more often than an option is.
        let unknown = words.len() > 2 && words.iter().any(|word| self.may_be_option(word));
        let may_link = open || unknown;
        for pair in arguments.windows(2) {
            if may_have_value(&pair[0], flags) {
                self.value(&pair[1])?;
            }
        }
        for word in sources {
            match program {
                Program::Moves => {
                    self.changed(word, true)?;
                    self.moves_elsewhere(word)?;
                }
                _ if makes_links => self.linked(word)?,
                _ if removes => self.changed(word, true)?,
                _ => self.copied(word, may_link)?,
            }
        }
        // A link without a name gets that of what it leads to, here.
        if let (Program::Links, [word]) = (program, words.as_slice()) {
            self.each(word, |operand| {
                let here = entry(operand).map(|name| self.relation(&name));
                refuse_if(word, here != Some(Relation::Apart))
            })?;
        }
        for word in destinations {
            self.each(word, |operand| match operand {
                Operand::Path(text) => {
                    if makes_links {
                        self.linked_at(Some(text), sources)?;
                    }
                    self.destination(word, text, sources, removes || keeps_paths)
                }
                Operand::Unknown(_) if program == Program::Moves => {
                    Fault::refuse(&word.raw, NOT_KNOWN)
                }
                Operand::Unknown(_) if makes_links => {
                    self.linked_at(None, sources)?;
                    self.part_outside(word, operand, &[])
                }
                _ => self.part_outside(word, operand, &[]),
            })?;
        }
        Ok(())
    }

    /// A directory in which the command runs must not move: what `..` means then would change.
    pub(super) fn moves_elsewhere(&self, word: &Word) -> Checked {
        let Some(mut passed) = self.passed.map(RefCell::borrow_mut) else {
            return Ok(());
        };
        self.each(word, |operand| {
            let paths = operand.path().and_then(|text| self.paths(text));
            let paths = paths.unwrap_or_default();
            passed
                .moved
                .extend(paths.iter().map(|path| normalise(path)));
            Fault::refuse_if(passed.is_moved(), &word.raw, MOVES_HERE)
        })
    }

    /// A source of a copy is only read; one that leads elsewhere by a link may be copied as one.
    fn copied(&self, word: &Word, may_link: bool) -> Checked {
        let unknown_option = self.may_be_option(word);
        self.met_unknown
            .set(self.met_unknown.get() || unknown_option);
        self.each_path(word, |path| {
            let linked = may_link && self.relation(path) == Relation::Within;
            linked || self.leads_in(path) || self.is_our_file(path)
        })
    }

    /// What may be the value of an option, such as a file that is written.
    fn value(&self, word: &Word) -> Checked {
        self.each_path(word, |path| {
            // It may be a command, as behind `-e` of `rsync`.
            let quotes = |c: char| c.is_whitespace() || "\"'".contains(c);
            let mut parts = path.split(quotes).chain([path]);
            parts.any(|part| self.relation(part) == Relation::Within)
        })
    }

    /// What a link leads to, from here or from where the link is.
    fn linked(&self, word: &Word) -> Checked {
        self.each_path_or_part(word, |path| {
            let climbs = path.split('/').any(|part| part == "..");
            let below = path.trim_start_matches("../");
            let protection = self.guard.context.protection;
            let inside = climbs && protection.may_lie_within(Path::new(below));
            let above = climbs && below.trim_matches(['.', '/']).is_empty();
            above || inside || self.is_near_place(path)
        })
    }

    /// What relative links lead to from the directory that they are made in, if that is known.
    fn linked_at(&self, directory: Option<&str>, sources: &[&Word]) -> Checked {
        let places = directory.and_then(|directory| self.paths(directory));
        let leads_in = |target: &str| self.may_lead_in(places.as_deref(), target);
        let mut sources = sources.iter();
        sources.try_for_each(|word| self.each_path(word, leads_in))
    }

    fn destination(&self, word: &Word, text: &str, sources: &[&Word], removes: bool) -> Checked {
        let Some(paths) = self.paths(text) else {
            return Fault::refuse(&word.raw, NOT_KNOWN);
        };
        for path in paths {
            match self.relation_at(&path) {
                Relation::Apart => {}
                Relation::Around if !removes && self.guard.context.resolve.is_directory(&path) => {
                    let other = |source: &&&Word| !std::ptr::eq(**source, word);
                    for source in sources.iter().filter(other) {
                        self.each(source, |operand| {
                            let name = entry(operand).map(|name| path.join(name));
                            let apart = |path: PathBuf| self.relation_at(&path) == Relation::Apart;
                            refuse_if(word, !name.is_some_and(apart))
                        })?;
                    }
                }
                _ => return Fault::refuse(&word.raw, WHY_PROTECTED),
            }
        }
        Ok(())
    }
}

/// Whether a word may be an option whose value is the next word; `flags` are letters that take none.
fn may_have_value(word: &Word, flags: &str) -> bool {
    const FLAGS: Names = Names::new(
        "-- --archive --recursive --verbose --quiet --force --update --no-clobber --interactive \
         --dereference --no-dereference --preserve --progress --stats --dry-run --compress \
         --checksum --links --times --perms --owner --group --relative --human-readable --existing \
         --remove-destination --attributes-only --compare --no-perms --no-owner --no-group --mkpath \
         --size-only --partial --exclude --include",
    );
    let text = word.prefix();
    let Some(letters) = text.strip_prefix('-') else {
        return false;
    };
    let is_flag = !is_open(word) && (FLAGS.has(text) || letters.chars().all(|c| flags.contains(c)));
    !is_flag && !text.contains('=')
}

/// Whether a word is one of these options, also abbreviated, or begins with one: `--delete-after`.
fn is_long(word: &Word, options: &[&str]) -> bool {
    let text = word.prefix();
    let is_one = |option: &&str| text.starts_with(*option) || abbreviates(text, option);
    options.iter().any(is_one)
}

/// The name under which a source would stand in a directory, if it is known.
fn entry(operand: &Operand) -> Option<String> {
    let name = operand.path()?.rsplit('/').next()?;
    (!matches!(name, "" | "." | "..")).then(|| name.to_owned())
}

/// What stands behind an option of this letter in its own word, also written out.
fn option_value(word: &Word, letter: &str) -> Option<Word> {
    if letter.is_empty() || !is_option(word, letter) {
        return None;
    }
    let raw = word.text().unwrap_or(&word.raw);
    let long = raw.trim_start_matches(['"', '\'']).starts_with("--");
    let (_, value) = raw.split_once(if long { "=" } else { letter })?;
    (!value.is_empty()).then(|| match word.text() {
        Some(_) => Word::literal(value),
        None => Word {
            raw: value.to_owned(),
            pieces: vec![Piece::Value(Arity::Any)],
            is_whole: false,
        },
    })
}
