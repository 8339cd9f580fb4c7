//! `keys`: who may sign skills, as files of signers list it and as first signatures made it known, and
//! which keys are revoked. Each change to such a file is shown with its fingerprint, a person agrees,
//! and the file is replaced as a whole.

use crate::catalog::{own_signing_file, signing_files};
use crate::cli::prelude::*;
use crate::marketplace::KnownSigners;
use crate::policy::SigningFile;
use crate::signing::{self, AllowedSigner, exported, openpgp_fingerprint, revocations};
use crate::skill::visible;
use crate::sys::{Base, FileLock};

/// Show or change whose signatures are accepted
#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true)]
pub struct KeysArgs {
    /// What to do; without it, keys are shown
    #[command(subcommand)]
    pub change: Option<KeyAction>,
}

/// What `keys` can change.
#[derive(Debug, Subcommand)]
pub enum KeyAction {
    /// Add a key to the list, as PRINCIPAL's
    Add(NewKey),
    /// Remove keys from the list
    Remove {
        /// A principal, or the fingerprint of a key
        #[arg(value_name = "PRINCIPAL|FINGERPRINT")]
        which: String,
        /// The file of signers, if not the user's own
        #[arg(long)]
        file: Option<PathBuf>,
    },
    /// Revoke a key: reject all its signatures
    Revoke {
        /// Its fingerprint, or the public key's file
        #[arg(value_name = "FINGERPRINT|FILE")]
        which: String,
        /// The file of revoked keys, if not the user's own
        #[arg(long)]
        file: Option<PathBuf>,
    },
}

/// A key to be listed, as a person asks for it.
#[derive(Debug, Args)]
pub struct NewKey {
    /// Whose key it is, such as an e-mail address
    pub principal: String,
    /// An ssh key's `.pub`, or an OpenPGP key's full fingerprint
    #[arg(value_name = "FILE|FINGERPRINT", required_unless_present = "from")]
    pub key: Option<String>,
    /// Take the ssh key that signed an installed skill
    #[arg(long, value_name = "SKILL", conflicts_with = "key")]
    pub from: Option<String>,
    /// The day from which an ssh key is no longer accepted, as 2027-12-31
    #[arg(long, value_name = "DATE")]
    pub valid_before: Option<String>,
    /// What an ssh key may sign: git (commits, tags), agent-skill (manifests)
    #[arg(long, value_name = "NAMES", default_value = "git,agent-skill")]
    pub namespaces: String,
    /// The file of signers, if not the user's own
    #[arg(long)]
    pub file: Option<PathBuf>,
}

impl KeysArgs {
    /// Shows the keys, or changes one file of them.
    pub fn run(&self, call: CliCall) -> Answer {
        let (name, changed) = match &self.change {
            None => return show(call),
            Some(KeyAction::Add(added)) => (&added.principal, add(call, added)),
            Some(KeyAction::Remove { which, file }) => {
                (which, remove(call, which, file.as_deref()))
            }
            Some(KeyAction::Revoke { which, file }) => {
                (which, revoke(call, which, file.as_deref()))
            }
        };
        Outcomes::of_one(call, name, changed)
    }
}

/// Keys of one kind: the cells of each, and the same in the format that `--json` documents.
type KeyRows = Vec<([String; 4], Value)>;

/// The text of a file of keys; empty if there is none.
///
/// # Errors
/// When it cannot be read.
fn read(path: &Path) -> Result<Vec<u8>> {
    let read = files::unless_missing(path, |path| files::read_capped(path, limits::SIGNERS));
    let read = read.map_err(|error| Error::io("read", path, &error))?;
    Ok(read.unwrap_or_default())
}

/// The keys in a file of revoked ones.
///
/// # Errors
/// When it cannot be read or understood.
fn revoked(path: &Path) -> Result<BTreeSet<String>> {
    let found = revocations(&String::from_utf8_lossy(&read(path)?));
    found.map_err(|error| error.context(format!("`{}`", path.display())))
}

/// The signers in a file.
///
/// # Errors
/// When the file cannot be read or understood.
fn signers(path: &Path) -> Result<Vec<AllowedSigner>> {
    let text = String::from_utf8(read(path)?)
        .map_err(|_| Error::new(format!("`{}` is not UTF-8", path.display())))?;
    AllowedSigner::all(&text).map_err(|error| error.context(format!("`{}`", path.display())))
}

/// Shows all keys; a failure if a file cannot be read.
fn show(call: CliCall) -> Answer {
    let (mut listed, mut known, mut no_longer) = (KeyRows::new(), KeyRows::new(), KeyRows::new());
    let mut errors = Vec::new();
    for file in signing_files(call.facts)? {
        let read = if file.revokes {
            add_revoked(&file, &mut no_longer)
        } else {
            add_listed(&file, &mut listed)
        };
        errors.extend(read.err().map(|error| error.to_string()));
    }
    match KnownSigners::read(&Base::own(call.facts.run.dirs.plugin.clone())) {
        Ok(signers) => add_known(&signers, &mut known),
        Err(error) => errors.push(error.to_string()),
    }
    let values = |keys: &KeyRows| {
        let values = keys.iter().map(|(_, value)| value.clone());
        values.collect::<Value>()
    };
    let all = json!({
        "signers": values(&listed),
        "known": values(&known),
        "revoked": values(&no_longer),
        "errors": errors,
    });
    let text = call.answer(&all, || {
        let shown = |error| format!("CANNOT BE READ: {}", one_line(error));
        let each = errors.iter();
        let shown = each.map(|error| call.screen.hanging("", &shown(error), 0));
        let mut text: String = shown.collect();
        for (title, last, leave_out, keys) in [
            ("Listed", "FOR", "BY, FOR", &listed),
            ("Known by what was installed", "SOURCE", "BY", &known),
            ("Revoked", "FILE", "FILE", &no_longer),
        ] {
            let columns = [("WHO", 12), ("KEY", 0), ("BY", 0), (last, 8)];
            let mut table = Table::new(&columns, leave_out);
            for (cells, _) in keys {
                let [who, key, by, last] = cells.each_ref().map(Cell::new);
                table.row(vec![who, key, by, last.paint(Paint::Dim)], Vec::new());
            }
            if !keys.is_empty() {
                let _ = write!(text, "{title}:\n{}", table.render(call.screen));
            }
        }
        if text.is_empty() {
            return "No signer is listed, and none is known yet.\n".to_owned();
        }
        text
    })?;
    Failure::unless(errors.is_empty(), text)
}

fn exists(file: &SigningFile) -> Result<()> {
    if file.path.exists() {
        return Ok(());
    }
    let (path, by) = (file.path.display(), file.stated_in.display());
    Err(Error::new(format!(
        "`{path}`, which `{by}` names, does not exist"
    )))
}

fn origin(file: &SigningFile) -> &'static str {
    if file.is_policy { "policy" } else { "own" }
}

fn add_listed(file: &SigningFile, keys: &mut KeyRows) -> Result<()> {
    exists(file)?;
    for one in signers(&file.path)? {
        let key = format!("{} {}", one.kind.as_str(), one.fingerprint);
        let json = json!({
            "principals": one.principals.split(',').collect::<Vec<_>>(),
            "kind": one.kind,
            "key": one.fingerprint,
            "options": one.options,
            "file": file.path.display().to_string(),
            "line": one.line,
            "policy": file.is_policy,
        });
        let cells = [&*one.principals, &key, origin(file), &one.options];
        keys.push((cells.map(one_line), json));
    }
    Ok(())
}

fn add_known(signers: &KnownSigners, keys: &mut KeyRows) {
    for (source, signer) in signers.iter() {
        let local = UnixMillis(signer.since).local();
        let since = format!("since {}", local.split(' ').next().unwrap_or_default());
        let who = signer.principal.as_deref().unwrap_or("(not listed)");
        let json = json!({
            "source": source,
            "principal": signer.principal,
            "kind": signer.key.kind,
            "key": signer.key.fingerprint,
            "since": signer.since,
        });
        let cells = [who, &signer.key.to_string(), &since, source];
        keys.push((cells.map(one_line), json));
    }
}

fn add_revoked(file: &SigningFile, keys: &mut KeyRows) -> Result<()> {
    exists(file)?;
    let path = file.path.display().to_string();
    for key in revoked(&file.path)? {
        let json = json!({"key": key, "file": path, "policy": file.is_policy});
        let cells = ["", &key, origin(file), &path];
        keys.push((cells.map(one_line), json));
    }
    Ok(())
}

/// Lists a key.
///
/// # Errors
/// When it is no public key, is listed or revoked already, nobody agrees, or the file cannot be
/// changed.
fn add(call: CliCall, added: &NewKey) -> Result<String> {
    let who = principal(&added.principal)?;
    let base = Layer::Plugin.base(call.facts);
    let key = match (&added.key, &added.from) {
        (Some(key), _) => key_of(&call.facts.run, key)?,
        (None, Some(skill)) => {
            let market = market_at(call.facts, &base);
            let entry = market.origin(skill)?.ok_or_else(|| {
                let text = format!("there is no installed skill `{}`", one_line(skill));
                Error::new(text).hint("`agent-skills list` shows all skills")
            })?;
            market.signers_key(&entry)?
        }
        (None, None) => return Err(Error::new("there is no key").hint("give a public key's file")),
    };
    let line = line(who, &key, added)?;
    let listed = listed(&line)?;
    let fingerprint = &listed.fingerprint;
    let (file, shown) = file_to_change(&call.facts.run, added.file.as_deref(), false);
    if let Some(revoked) = revoked_in(call.facts, fingerprint)? {
        let revoked = revoked.display();
        let text = format!("the key {fingerprint} is revoked in `{revoked}`");
        return Err(Error::new(text).hint("its owner has to make a new one"));
    }
    let there = signers(&file)?;
    if let Some(same) = there.iter().find(|one| one.fingerprint == *fingerprint) {
        let is_same = same.options == listed.options;
        if is_same && same.principals.split(',').any(|one| one == who) {
            return Ok(format!(
                "{who} is listed with this key already, in {shown}\n"
            ));
        }
        let text = format!(
            "line {} of `{shown}` lists the key {fingerprint} for {}",
            same.line, same.principals
        );
        return Err(Error::new(text).hint(format!(
            "`agent-skills keys remove {fingerprint}` removes it; then add it"
        )));
    }
    let kind = key.split(' ').next().unwrap_or_default();
    let options = match &*listed.options {
        "" => "for whatever it signs",
        options => options,
    };
    let what = format!("  {who}\n  {kind} {fingerprint}\n  {options}\n");
    if call.common.dry_run {
        return Ok(format!("would add to {shown}:\n{what}"));
    }
    let screenful = format!("{shown} would list\n{what}");
    let question = "Is it theirs, and may it sign skills?";
    call.to_agree(&screenful, question, "nothing was added")?;
    change(call.facts, &file, |text| {
        Ok(signing::with_line(text, &line))
    })?;
    record(call.facts, "add", who, fingerprint);
    Ok(format!(
        "{who} is listed in {shown} with {kind} {fingerprint}\n"
    ))
}

/// Takes a principal or a key out of a file of signers.
///
/// # Errors
/// When it is not there, nobody agrees, or the file cannot be changed.
fn remove(call: CliCall, which: &str, file: Option<&Path>) -> Result<String> {
    let (file, shown) = file_to_change(&call.facts.run, file, false);
    let meant = |listed: &&AllowedSigner| {
        listed.fingerprint.eq_ignore_ascii_case(which)
            || listed.principals.split(',').any(|one| one == which)
    };
    let there = signers(&file)?;
    let found: Vec<&AllowedSigner> = there.iter().filter(meant).collect();
    if found.is_empty() {
        let text = format!("`{shown}` lists no `{}`", visible(which));
        return Err(Error::new(text).hint("`agent-skills keys` shows who is listed, and where"));
    }
    let lines = found.iter().map(|one| {
        let (kind, key) = (one.kind.as_str(), &one.fingerprint);
        format!("  {} {kind} {key}\n", one.principals)
    });
    let (lines, named): (String, String) = (lines.collect(), visible(which));
    if call.common.dry_run {
        return Ok(format!("would remove {named} from {shown}:\n{lines}"));
    }
    let screenful = format!("{named} would no longer be listed in {shown}:\n{lines}");
    call.to_agree(&screenful, "Remove it?", "nothing was removed")?;
    let keys: Vec<&str> = found.iter().map(|one| one.fingerprint.as_str()).collect();
    change(call.facts, &file, |text| {
        let now = AllowedSigner::all(text)?;
        let by_name = |one: &&AllowedSigner| one.principals.split(',').any(|one| one == which);
        let is_meant = |one: &&AllowedSigner| keys.contains(&one.fingerprint.as_str());
        let lines: Vec<&AllowedSigner> = now.iter().filter(is_meant).collect();
        // A key goes as a whole, a name only from its own lines.
        let of_name: Vec<&AllowedSigner> = lines.iter().copied().filter(by_name).collect();
        Ok(if of_name.is_empty() {
            signing::without(text, &lines, None)
        } else {
            signing::without(text, &of_name, Some(which))
        })
    })?;
    record(call.facts, "remove", which, "");
    Ok(format!("{named} is no longer listed in {shown}\n"))
}

/// Adds a key to a file of revoked ones.
///
/// # Errors
/// When it is no key, nobody agrees, or the file cannot be changed.
fn revoke(call: CliCall, which: &str, file: Option<&Path>) -> Result<String> {
    let fingerprint = if call.facts.run.env.cwd.join(which).is_file() {
        listed(&format!("x {}", key_of(&call.facts.run, which)?))?.fingerprint
    } else {
        let keys = revocations(which).unwrap_or_default();
        keys.into_iter().next().ok_or_else(|| {
            let text = format!("`{}` is neither a file nor a fingerprint", visible(which));
            Error::new(text).hint("`agent-skills keys` shows fingerprints")
        })?
    };
    let (file, shown) = file_to_change(&call.facts.run, file, true);
    if revoked(&file)?.contains(&fingerprint) {
        return Ok(format!("{fingerprint} is revoked already, in {shown}\n"));
    }
    let who = principal_of(call.facts, &fingerprint).unwrap_or_default();
    let of = match &*who {
        "" => String::new(),
        who => format!(" of {who}"),
    };
    if call.common.dry_run {
        return Ok(format!("would revoke {fingerprint}{of} in {shown}\n"));
    }
    let screenful =
        format!("Revoke the key {fingerprint}{of}? Signatures made with it will be rejected.\n");
    call.to_agree(&screenful, "Revoke it?", "nothing was revoked")?;
    let now = UnixMillis::now().local();
    let today = now.split(' ').next().unwrap_or_default();
    let line = format!("{fingerprint} {today}{of}");
    change(call.facts, &file, |text| {
        Ok(signing::with_line(text, &line))
    })?;
    record(call.facts, "revoke", &who, &fingerprint);
    Ok(format!("{fingerprint}{of} is revoked in {shown}\n"))
}

/// The kind and the key for a file of signers, of an ssh key's file or an OpenPGP fingerprint.
fn key_of(run: &RunContext, written: &str) -> Result<String> {
    let path = run.env.cwd.join(written);
    if let Some(fingerprint) = openpgp_fingerprint(written).filter(|_| !path.is_file()) {
        return Ok(format!("openpgp {fingerprint}"));
    }
    let bytes = files::read_capped(&path, limits::MANIFEST).map_err(|error| {
        Error::io("read", &path, &error)
            .hint("give a public ssh key's file, or the full fingerprint of an OpenPGP key")
    })?;
    let key = exported(&String::from_utf8_lossy(&bytes));
    key.map_err(|error| error.context(format!("`{}`", one_line(written))))
}

/// What one line of a file of signers lists.
fn listed(line: &str) -> Result<AllowedSigner> {
    let first = AllowedSigner::all(line)?.into_iter().next();
    first.ok_or_else(|| Error::new("it is not a public key"))
}

/// The file to change, and how it is shown.
fn file_to_change(run: &RunContext, written: Option<&Path>, revokes: bool) -> (PathBuf, String) {
    let file = match written {
        Some(file) => run.env.cwd.join(file),
        None => own_signing_file(run, revokes),
    };
    let shown = one_line(&file.display().to_string());
    (file, shown)
}

/// The file that revokes a key, if one does.
fn revoked_in(facts: &Facts, fingerprint: &str) -> Result<Option<PathBuf>> {
    let files = signing_files(facts)?.into_iter();
    for file in files.filter(|file| file.revokes) {
        if revoked(&file.path)?.contains(fingerprint) {
            return Ok(Some(file.path));
        }
    }
    Ok(None)
}

/// Who is listed with a key, in any file that counts.
fn principal_of(facts: &Facts, fingerprint: &str) -> Option<String> {
    let files = signing_files(facts).ok()?.into_iter();
    let files = files.filter(|file| !file.revokes);
    let mut listed = files.flat_map(|file| signers(&file.path).unwrap_or_default());
    let found = listed.find(|one| one.fingerprint == fingerprint);
    found.map(|listed| listed.principals)
}

/// Replaces a file by what `edit` makes of its text, while no other command of ours does. It keeps
/// its owner and permissions, and a link to it.
fn change(facts: &Facts, file: &Path, edit: impl Fn(&str) -> Result<String>) -> Result<()> {
    let own = Layer::Plugin.base(facts).make()?;
    let lock = own.path().join("signers.lock");
    let _lock = FileLock::exclusive(&lock, limits::INSTALL_LOCK)?;
    let bytes = read(file)?;
    let text = String::from_utf8(bytes)
        .map_err(|_| Error::new(format!("`{}` is not UTF-8", file.display())))?;
    let new = edit(&text)?;
    let real = file.canonicalize().unwrap_or_else(|_| file.to_owned());
    let (Ok(metadata), Some(dir), Some(name)) = (
        real.metadata(),
        real.parent(),
        real.file_name().and_then(EntryName::parse),
    ) else {
        return files::replace(&real, new.as_bytes(), 0o644, Durable::Yes);
    };
    let written = Dir::anchor(dir).and_then(|dir| dir.replace_as(&name, new.as_bytes(), &metadata));
    written.map_err(|error| Error::io("write", &real, &error))
}

fn record(facts: &Facts, change: &str, who: &str, key: &str) {
    let event = Event::new("keys").with("change", change);
    facts.record(event.with("principal", who).with("key", key));
}

/// The name, if it can be one of a single signer in a file of signers.
fn principal(written: &str) -> Result<&str> {
    let is_odd = |c: char| c.is_whitespace() || "\"',*?!#".contains(c);
    if written.is_empty() || written.contains(is_odd) || visible(written) != written {
        let text = format!("`{}` cannot be the name of a signer", visible(written));
        return Err(Error::new(text).hint("give an e-mail address, or a name in one word"));
    }
    Ok(written)
}

/// The line for a file of signers.
fn line(who: &str, key: &str, added: &NewKey) -> Result<String> {
    let is_ssh = !key.starts_with("openpgp ");
    if !is_ssh {
        if added.valid_before.is_some() {
            let text = "only the line of an ssh key has a last day";
            return Err(Error::new(text).hint("an OpenPGP key says itself when it expires"));
        }
        return Ok(format!("{who} {key}"));
    }
    let is_odd = |c: char| !c.is_ascii_alphanumeric() && !"-_.@,".contains(c);
    let names = &added.namespaces;
    if names.is_empty() || names.contains(is_odd) {
        let text = format!("`{}` are no names of purposes", visible(names));
        return Err(
            Error::new(text).hint("`git` for commits and tags, `agent-skill` for manifests")
        );
    }
    let mut options = format!("namespaces=\"{names}\"");
    if let Some(day) = &added.valid_before {
        let digits = day.replace('-', "");
        let at = UnixMillis::parse(day, UnixMillis(0));
        if at.is_none() || digits.len() != 8 || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
            let text = format!("`{}` is not a day", visible(day));
            return Err(Error::new(text).hint("write it as 2027-12-31"));
        }
        let _ = write!(options, ",valid-before=\"{digits}\"");
    }
    Ok(format!("{who} {options} {key}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asked(valid_before: Option<&str>, namespaces: &str) -> NewKey {
        NewKey {
            principal: "a".to_owned(),
            key: None,
            from: None,
            valid_before: valid_before.map(str::to_owned),
            namespaces: namespaces.to_owned(),
            file: None,
        }
    }

    #[test]
    fn a_line_has_the_options_that_its_kind_takes() {
        let ssh = "ssh-ed25519 AAAA";
        let both = line("a", ssh, &asked(Some("2027-12-31"), "git,agent-skill")).unwrap();
        let options = "namespaces=\"git,agent-skill\",valid-before=\"20271231\"";
        assert_eq!(both, format!("a {options} {ssh}"));
        assert_eq!(
            line("a", "openpgp A", &asked(None, "git")).unwrap(),
            "a openpgp A"
        );
        assert!(line("a", "openpgp A", &asked(Some("2027-12-31"), "git")).is_err());
        for day in ["2027-13-01", "tomorrow", "7d", "2027", "2027-12-31 10:00"] {
            assert!(line("a", ssh, &asked(Some(day), "git")).is_err(), "{day}");
        }
        for names in ["", "a b", "git\",cert-authority"] {
            assert!(line("a", ssh, &asked(None, names)).is_err(), "{names}");
        }
    }

    #[test]
    fn a_principal_is_one_name() {
        for odd in [
            "",
            "a b",
            "*",
            "a,b",
            "!a",
            "#a",
            "a\"",
            "a\u{202e}b",
            "a\n",
        ] {
            assert!(principal(odd).is_err(), "{odd:?}");
        }
        principal("alice@example.com").unwrap();
    }
}
