//! What a command would change through its operands (docs/spec/restriction.md#operands): no rule
//! lets it remove, move, replace or link the files that restrict it, or run our own executable.

use super::operand_paths::{Checked, OperandCheck, WordExpansion};
use super::programs::{self, OperandUse, Program, Wraps, base};
use super::reading_programs::file_read;
use super::word::Word;
use super::word_expansion::mark_wildcards;
use super::wrappers::{self, WrappedCommand};
use super::{PLACEHOLDER, Rejection, find};
use crate::protected::{ANY_CHAR, ANY_TEXT, Relation, UNKNOWN, WHY_PROTECTED, may_match};
use skill_text::Names;

/// Options of many programs whose value is the directory to run in.
const DIRECTORY_OPTIONS: &str = "-C -D --chdir --directory --cwd --work-tree --output-dir --wd";
/// Options by which a destination is replaced and not entered, or sources go.
const REPLACING_OPTIONS: Names =
    Names::new("--delete --remove-source-files --no-t --no-d --pare --relative --files-from");

/// The limit of such options that are followed.
const MAX_MOVES: usize = 8;
/// The limit of commands within each other.
const MAX_DEPTH: usize = 8;

impl OperandCheck<'_> {
    /// The word that runs our own executable, if any.
    pub fn our_executable_in(&self, words: &[Word], depth: usize) -> Option<String> {
        let (program, arguments) = words.split_first().filter(|_| depth <= MAX_DEPTH)?;
        let all = self.expand(std::slice::from_ref(program)).ok()?;
        if all.iter().any(|name| self.is_our_executable(&name.text)) {
            return Some(program.raw.clone());
        }
        let runs = wrappers::inner_commands(programs::by_path(program.text()?), arguments);
        runs.iter().find_map(|run| match run {
            WrappedCommand::Command(words) => self.our_executable_in(words, depth + 1),
            WrappedCommand::Text { .. } => None,
        })
    }

    /// Refuses a command that would change a protected place.
    ///
    /// # Errors
    /// The word concerned, and the reason.
    pub fn check_command(&self, words: &[Word], depth: usize) -> Checked {
        // A command inside wrappers or `find` is checked again for each of them.
        Rejection::spend(self.context.steps, 1 + words.len())?;
        Rejection::err_if(depth > MAX_DEPTH, "", "too many commands within commands")?;
        let Some((program, arguments)) = words.split_first() else {
            return Ok(());
        };
        // As in `for p in rm; do $p x; done`.
        for name in self.expand(std::slice::from_ref(program))? {
            let row = programs::by_path(&name.text);
            match row.operand_use_as(&name.text) {
                OperandUse::Reads => {}
                operand_use => self.check_program(row, operand_use, arguments, depth)?,
            }
        }
        Ok(())
    }

    /// What a program of this row would change, here and in the directories that its options name, as
    /// in `git -C DIRECTORY` and `tar -C DIRECTORY`.
    fn check_program(
        &self,
        row: &Program,
        operand_use: OperandUse,
        arguments: &[Word],
        depth: usize,
    ) -> Checked {
        let behind = self.expand(arguments)?;
        self.check_operands(row, operand_use, arguments, &behind, depth)?;
        if !matches!(operand_use, OperandUse::Git | OperandUse::Unknown) {
            return Ok(());
        }
        let mut directories = self.directories.clone();
        let options = behind
            .iter()
            .filter(|one| directory_option(&one.text).is_some());
        for option in options.take(MAX_MOVES) {
            let next = behind.iter().filter(|next| next.at == option.at + 1);
            let to = match directory_option(&option.text) {
                Some("") => next.map(|next| &*next.text).collect(),
                value => Vec::from_iter(value),
            };
            directories = directories.joined_with(&to);
            let directories = &directories;
            let moved = OperandCheck {
                directories,
                ..*self
            };
            moved.check_operands(row, operand_use, arguments, &behind, depth)?;
        }
        Ok(())
    }

    fn check_operands(
        &self,
        row: &Program,
        operand_use: OperandUse,
        words: &[Word],
        texts: &[WordExpansion],
        depth: usize,
    ) -> Checked {
        Rejection::spend(self.context.steps, texts.len())?;
        match operand_use {
            OperandUse::Reads => Ok(()),
            OperandUse::Sed if sed_only_reads(words) => Ok(()),
            OperandUse::Sed => {
                texts
                    .iter()
                    .try_for_each(|one| self.check_sed_script(one))?;
                if has_option(texts, "i") {
                    return self.check_changed(texts);
                }
                self.check_named(texts)
            }
            OperandUse::Changes => self.check_changed(texts),
            OperandUse::Moves
            | OperandUse::Copies
            | OperandUse::Installs
            | OperandUse::Syncs
            | OperandUse::Links => self.check_placed(operand_use, texts),
            OperandUse::Dd => texts.iter().try_for_each(|one| {
                let file = one.text.strip_prefix("of=");
                refuse_when(one, file.is_some_and(|file| self.hits_place(file)))
            }),
            OperandUse::Find => self.check_find(words, texts, depth),
            OperandUse::Git => self.check_git(words, texts),
            OperandUse::Unknown => {
                let from = wrappers::inner_command_start(row, words).unwrap_or(words.len());
                if matches!(row.wraps, Wraps::Command { .. }) {
                    for run in wrappers::inner_commands(row, words) {
                        // Texts are read by themselves.
                        if let WrappedCommand::Command(inner) = run {
                            self.check_command(&inner, depth + 1)?;
                        }
                    }
                }
                self.check_named(texts.iter().take_while(|it| it.at < from))
            }
        }
    }

    /// Operands that are removed or changed, perhaps with everything below, and the values of options.
    fn check_changed(&self, texts: &[WordExpansion]) -> Checked {
        self.check_named(texts.iter().filter(|it| it.is_option()))?;
        // As in `sed -i '' …` of macOS.
        not_options(texts).try_for_each(|one| {
            refuse_when(one, !one.text.is_empty() && self.hits_place(&one.text))
        })
    }

    /// The files that a program for `sed` writes by `w`.
    fn check_sed_script(&self, expanded: &WordExpansion) -> Checked {
        let text = expanded.text.as_str();
        let writes = text.match_indices(['w', 'W']);
        let mut files = writes.filter_map(|(at, _)| text[at + 1..].lines().next());
        refuse_when(
            expanded,
            files.any(|file| self.names_place(file.trim_start())),
        )
    }

    /// Unknown programs may use anything unprotected, and the active skill's files.
    fn check_named<'n>(&self, texts: impl IntoIterator<Item = &'n WordExpansion<'n>>) -> Checked {
        let mut texts = texts.into_iter();
        texts.try_for_each(|it| refuse_when(it, self.names_place(&it.text)))
    }

    /// The values of assignments: a program may write the file that a variable names.
    ///
    /// # Errors
    /// The value, and the reason.
    pub fn check_values(&self, values: &[Word]) -> Checked {
        self.check_named(&self.expand(values)?)
    }

    /// `mv`, `cp`, `ln` and the like.
    fn check_placed(&self, operand_use: OperandUse, texts: &[WordExpansion]) -> Checked {
        self.check_named(texts.iter().filter(|it| it.is_option()))?;
        let links = match operand_use {
            OperandUse::Copies => has_option(texts, "ls"),
            OperandUse::Installs => has_option(texts, "d"),
            operand_use => operand_use == OperandUse::Links,
        };
        let replaces = |one: &WordExpansion| {
            let is_cluster = one.is_option() && !one.text.starts_with("--");
            let whole = if operand_use == OperandUse::Syncs {
                'R'
            } else {
                'T'
            };
            REPLACING_OPTIONS.has_beginning_of(&one.text)
                || is_cluster && one.text.contains(whole)
                || links && one.is_option() && one.text.contains(['n', 'h'])
        };
        let whole = texts.iter().any(replaces);
        let into = operand_use != OperandUse::Syncs && has_option(texts, "t");
        // A value of an option that stands behind would look like the destination.
        let mut behind = texts.iter().skip_while(|it| it.is_option());
        let mixed = behind.any(|it| it.is_option() && it.text != "--");
        let operands: Vec<&WordExpansion> = not_options(texts).collect();
        // If the last word may vanish, the one before it is the destination.
        let stays = operands.last().is_some_and(|last| last.word.is_one_word());
        let last = operands.last().map_or(0, |last| last.at);
        let begin = operands.partition_point(|one| one.at < last);
        let (sources, destinations) = if mixed || into || !stays {
            (operands.as_slice(), operands.as_slice())
        } else {
            operands.split_at(begin)
        };
        if links || whole || operand_use == OperandUse::Moves {
            for source in sources {
                refuse_when(source, self.hits_place(&source.text))?;
            }
        }
        for one in destinations {
            // A link without a name gets that of what it leads to, here.
            if links && operands.iter().all(|other| other.at == one.at) {
                refuse_when(one, self.hits_place(&one.text))?;
                self.check_destination(one, ".", operands.iter(), whole)?;
            } else {
                let others = sources.iter().filter(|source| source.at != one.at);
                self.check_destination(one, &one.text, others, whole)?;
            }
        }
        // As `-t/x` and `--target-directory=/x`.
        for one in texts.iter().filter(|one| into && one.is_option()) {
            let value = match one.text.strip_prefix("--t") {
                Some(long) => long.split_once('='),
                None => one.text.split_once('t'),
            };
            if let Some((_, value)) = value.filter(|(_, value)| !value.is_empty()) {
                self.check_destination(one, value, sources.iter(), whole)?;
            }
        }
        Ok(())
    }

    /// Where sources are put: in a directory that holds a place, but not as the place.
    fn check_destination<'n>(
        &self,
        one: &WordExpansion,
        text: &str,
        mut sources: impl Iterator<Item = &'n &'n WordExpansion<'n>>,
        whole: bool,
    ) -> Checked {
        let refused = match self.relation(text) {
            Relation::Unrelated => false,
            Relation::Ancestor if !whole && self.is_directory(text) => {
                // What a directory holds may be anything.
                sources.any(|source| match base(&source.text) {
                    "" | "." | ".." => true,
                    name => self.hits_place(&format!("{}/{name}", text.trim_end_matches('/'))),
                })
            }
            _ => true,
        };
        refuse_when(one, refused)
    }

    /// `find`: what it deletes, and what the commands change that it runs.
    fn check_find(&self, words: &[Word], texts: &[WordExpansion], depth: usize) -> Checked {
        let mut removes = texts.iter().any(|it| it.text == "-delete");
        let mut writes = texts.iter().any(|it| it.text.starts_with("-f"));
        // A file may be called `-delete`, of which a glob then makes an action.
        let mut actions = find::WRITE_PRIMARIES.iter().chain(&find::EXEC_PRIMARIES);
        let may_become = |one: &WordExpansion, action: &str| {
            one.text.starts_with([ANY_TEXT, ANY_CHAR]) && may_match(&one.text, action)
        };
        let is_open = actions.any(|action| texts.iter().any(|one| may_become(one, action)));
        removes |= is_open;
        writes |= is_open;
        let mut searched = Vec::new();
        // Whether `find` selects by names that no protected place has.
        let (mut is_chosen, mut is_plain) = (false, true);
        // All that a word may become, as in `for n in a b; do find . -name $n …; done`, is one value.
        let mut rest = texts.chunk_by(|one, next| one.at == next.at);
        while let Some(word) = rest.next() {
            let text = word[0].text.as_str();
            is_plain &= word.len() == 1 || !word.iter().any(|it| it.text.starts_with(OPERATORS));
            if find::EXEC_PRIMARIES.contains(&text) {
                // A name behind the action chooses nothing for it.
                is_plain &= is_chosen;
                rest.find(|it| matches!(it[0].text.as_str(), ";" | "+"));
            } else if text != "-f" && find::takes_value(text) {
                for value in rest.next().into_iter().flatten() {
                    if text.starts_with("-f") {
                        refuse_when(value, self.names_place(&value.text))?;
                    } else if matches!(text, "-name" | "-iname") {
                        is_chosen = true;
                        let protection = self.context.protection;
                        is_plain &= is_plain_glob(&value.text)
                            && !protection.may_name_place(&mark_wildcards(&value.text));
                    }
                }
                if text == "-fprintf" {
                    rest.next();
                }
            } else if !text.starts_with(OPERATORS) {
                // Without the part that is not known it may be an operator.
                let known = text.replace(UNKNOWN, "");
                let operates = known.starts_with('-') || !known.contains(|c| !"(),!".contains(c));
                is_plain &= !text.contains(UNKNOWN) || known.is_empty() || !operates;
                searched.extend(word);
            } else {
                is_plain &= !matches!(text, "(" | "!" | "," | "-not" | "-o" | "-or");
            }
        }
        let is_chosen = is_chosen && is_plain;
        for mut inner in find::exec_commands(words) {
            self.check_command(&inner, depth + 1)?;
            // What is run at last decides, as in `-exec sudo rm`.
            while let Some(from) = inner.split_first().and_then(|(program, arguments)| {
                wrappers::inner_command_start(programs::by_path(program.text()?), arguments)
            }) {
                inner.drain(..=from);
            }
            let Some((program, arguments)) = inner.split_first() else {
                continue;
            };
            let name = program.text().unwrap_or_default();
            let row = programs::by_path(name);
            let reads = match row.operand_use_as(name) {
                OperandUse::Sed => !has_option(&self.expand(arguments)?, "i"),
                operand_use => operand_use == OperandUse::Reads,
            };
            let is_found = |word: &Word| {
                let written = word.raw.trim_matches(['"', '\'']);
                written == PLACEHOLDER || !word.raw.contains(PLACEHOLDER)
            };
            let is_chosen = is_chosen && arguments.iter().all(is_found);
            removes |= row.changes() && !reads && !is_chosen;
            writes |= !reads;
        }
        if removes && searched.is_empty() {
            return self.check_changed(&self.expand(&[Word::literal(".")])?);
        }
        let mut searched = searched.into_iter();
        searched.try_for_each(|one| {
            let is_changed = removes && self.hits_place(&one.text);
            refuse_when(one, is_changed || writes && self.names_place(&one.text))
        })
    }

    /// `git`: what it removes, moves or writes by the paths it is given.
    fn check_git(&self, words: &[Word], texts: &[WordExpansion]) -> Checked {
        let place = wrappers::git_subcommand_index(words);
        let (before, behind) = texts.split_at(texts.partition_point(|one| one.at < place));
        let verbs: Vec<&str> = behind
            .iter()
            .take_while(|one| one.at == place)
            .map(|verb| &*verb.text)
            .collect();
        let is_one_of = |list: &str, verb: &&str| programs::has_word(list, verb);
        if verbs.iter().any(|verb| is_one_of("clean rm mv", verb)) && !is_dry_run(&verbs, behind) {
            if let Some(others) = without_exclusions(words, place) {
                return self.check_git(&others, &self.expand(&others)?);
            }
            self.check_named(texts)?;
            // Where a directory is named, what it holds goes without a path; what looks like one may
            // be a pattern.
            let patterns = behind.iter().filter(|one| exclusion(&one.text) == Some(""));
            let patterns: Vec<usize> = patterns.map(|option| option.at + 1).collect();
            let is_path = |one: &&WordExpansion| patterns.binary_search(&one.at).is_err();
            let mut named = not_options(behind).filter(is_path);
            if verbs.contains(&"clean") && named.nth(verbs.len()).is_none() {
                self.check_changed(before)?;
                if !patterns.is_empty() {
                    self.check_changed(&self.expand(&[Word::literal(".")])?)?;
                }
            }
            return self.check_changed(behind);
        }
        if verbs
            .iter()
            .all(|verb| is_one_of("log diff show status blame", verb))
        {
            let is_output =
                |one: &&WordExpansion| one.text.starts_with("-o") || one.text.starts_with("--ou");
            return self.check_named(before.iter().chain(behind.iter().filter(is_output)));
        }
        self.check_named(texts)
    }
}

/// Whether `git rm`, `mv` or `clean` with these words certainly changes no file: by an option before all
/// else, which none takes back.
fn is_dry_run(verbs: &[&str], behind: &[WordExpansion]) -> bool {
    let mut leading = behind[verbs.len()..].iter().take_while(|one| {
        let is_exclusion = verbs.contains(&"clean") && exclusion(&one.text).is_some();
        one.is_option() && !one.text.trim_start_matches('-').is_empty() && !is_exclusion
    });
    let is_certain =
        |one: &WordExpansion| behind.iter().filter(|other| other.at == one.at).count() == 1;
    let is_dry = |one: &WordExpansion| match verbs {
        ["rm"] if one.text == "--cached" => true,
        _ => one.text == "--dry-run" || !one.text.starts_with("--") && one.text.contains('n'),
    };
    let is_undone = behind.iter().any(|one| one.text.starts_with("--no-"));
    verbs.len() == 1 && !is_undone && leading.any(|one| is_certain(one) && is_dry(one))
}

/// The pattern of files to leave that an option gives `git clean`; an empty one is the next word.
fn exclusion(option: &str) -> Option<&str> {
    let Some(long) = option.strip_prefix("--") else {
        return Some(option.strip_prefix('-')?.split_once('e')?.1);
    };
    let (name, pattern) = long.split_once('=').unwrap_or((long, ""));
    let is_whole = !name.is_empty() && !long.ends_with('=');
    (is_whole && "exclude".starts_with(name)).then_some(pattern)
}

/// The words without those by which `git clean` certainly leaves files, up to one that is not known; `None`
/// if there are none of these.
fn without_exclusions(words: &[Word], verb: usize) -> Option<Vec<Word>> {
    words[verb].text().filter(|verb| *verb == "clean")?;
    let mut kept = words[..=verb].to_vec();
    let mut rest = &words[verb + 1..];
    while let [word, behind @ ..] = rest
        && let Some(text) = word.text().filter(|text| *text != "--")
    {
        rest = match (exclusion(text), behind) {
            (None, _) => {
                kept.push(word.clone());
                behind
            }
            (Some(""), [pattern, behind @ ..]) if pattern.is_one_word() => behind,
            (Some(""), _) => break,
            (Some(_), _) => behind,
        };
    }
    kept.extend_from_slice(rest);
    (kept.len() < words.len()).then_some(kept)
}

/// The value of an option that names the directory to run in; an empty one is the next word.
pub fn directory_option(option: &str) -> Option<&str> {
    let mut options = DIRECTORY_OPTIONS.split(' ');
    let value = options.find_map(|name| option.strip_prefix(name));
    // As in `env -iC DIRECTORY`.
    let is_last = || option.starts_with('-') && !option.starts_with("--") && option.ends_with('C');
    let value = value.or_else(|| is_last().then_some(""));
    value.map(|value| value.trim_start_matches('='))
}

/// Whether one of these words may be an option that names the directory to run in.
pub fn has_directory_option(words: &[Word]) -> bool {
    words
        .iter()
        .any(|word| directory_option(word.prefix()).is_some())
}

/// Whether `sed` with these arguments changes no file.
fn sed_only_reads(arguments: &[Word]) -> bool {
    let words = [&[Word::literal("sed")], arguments].concat();
    matches!(file_read(&words, false), Some(Ok(_)))
}

/// What begins a word of `find` that is no path.
const OPERATORS: [char; 7] = ['-', '(', ')', '!', ',', ';', '+'];

/// Whether every program reads a glob alike: without a backslash and unusual sets.
fn is_plain_glob(text: &str) -> bool {
    let mut sets = text.split('[').skip(1);
    !text.contains('\\') && sets.all(|set| set.starts_with(|c: char| c.is_alphanumeric()))
}

fn refuse_when(expanded: &WordExpansion, refused: bool) -> Checked {
    Rejection::err_if(refused, &expanded.word.raw, WHY_PROTECTED)
}

/// What is no option.
fn not_options<'n, 'w>(
    texts: &'n [WordExpansion<'w>],
) -> impl Iterator<Item = &'n WordExpansion<'w>> {
    let mut ended = false;
    texts.iter().filter(move |one| {
        let ends = !ended && one.text == "--";
        let is_plain = !ends && (ended || !one.is_option());
        ended |= ends;
        is_plain
    })
}

/// Whether one of these is an option with one of the letters, in a cluster or in long form too.
fn has_option(texts: &[WordExpansion], letters: &str) -> bool {
    let has_letter = |c: char| letters.contains(c);
    texts.iter().any(|one| match one.text.strip_prefix("--") {
        Some(long) => long.starts_with(has_letter),
        None => one.is_option() && one.text[1..].contains(has_letter),
    })
}
