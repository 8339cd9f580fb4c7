//! A skill as one `.zip`, byte-identical for the same files on every machine: sorted, uncompressed,
//! with one fixed time; of the modes, only the executable bit is kept. And its manifest, which is what
//! its author signs.

use super::prelude::*;
use flate2::{Compression, GzBuilder};

use crate::signing::{MANIFEST, Manifest, SSH_SIGNATURE, digest, is_signature_file};
use skill_text::Names;

/// A package, in memory.
#[derive(Debug)]
pub struct Package {
    /// The archive.
    pub bytes: Vec<u8>,
    /// The SHA-256 of each file in it, as a manifest has it.
    pub digests: BTreeMap<String, String>,
    /// The paths left out.
    pub left_out: Vec<String>,
    /// Packed paths whose names suggest secrets.
    pub doubtful: Vec<String>,
    name: String,
    files: Files,
}

impl Package {
    /// The digest of each file, by its path.
    pub fn digests(&self) -> impl Iterator<Item = (&str, &str)> {
        let files = self.digests.iter();
        files.map(|(path, digest)| (path.as_str(), digest.as_str()))
    }

    /// The same files as registries have them: a compressed tar with one directory, in which nothing
    /// depends on the machine.
    ///
    /// # Errors
    /// When a path is too long for it.
    pub fn layer(&self) -> Result<Vec<u8>> {
        let gz = GzBuilder::new().write(Vec::new(), Compression::best());
        let mut tar = tar::Builder::new(gz);
        let mut add = |path: &str, content: &[u8], executable: bool| {
            let mut header = tar::Header::new_ustar();
            header.set_size(content.len() as u64);
            header.set_mode(if executable { 0o755 } else { 0o644 });
            header.set_uid(0);
            header.set_gid(0);
            header.set_mtime(0);
            tar.append_data(&mut header, format!("{}/{path}", self.name), content)
        };
        let mut all = self.files.iter();
        let packed =
            all.try_for_each(|(path, (content, executable))| add(path, content, *executable));
        let bytes = packed.and_then(|()| tar.into_inner()?.finish());
        bytes.map_err(|error| Error::caused(format!("`{}` cannot be packed", self.name), error))
    }
}

/// Packs the skill in `dir` below a single directory called `name`.
///
/// # Errors
/// When a link leads out, an entry is not a file, or the skill exceeds the limits of an archive.
pub fn package(dir: &Path, name: &str) -> Result<Package> {
    let open = dir.canonicalize().and_then(|root| Dir::anchor(&root));
    let open = open.map_err(|error| Error::io("open directory", dir, &error))?;
    let root = open.path().to_owned();
    let mut packing = Packing {
        root: open,
        files: BTreeMap::new(),
        left_out: Vec::new(),
        bytes: 0,
        steps: 0,
    };
    packing.directory(&root, "", &mut Vec::new())?;
    let bytes = archive(name, &packing.files);
    if bytes.len() as u64 > limits::DOWNLOAD {
        return Err(package_too_large(name));
    }
    packing.left_out.sort();
    let paths = packing.files.keys().filter(|path| is_doubtful(path));
    let doubtful = paths.cloned().collect();
    let digest = |(path, (content, executable)): (&String, &(Vec<u8>, bool))| {
        (path.clone(), digest(content, *executable))
    };
    Ok(Package {
        bytes,
        digests: packing.files.iter().map(digest).collect(),
        left_out: packing.left_out,
        doubtful,
        name: name.to_owned(),
        files: packing.files,
    })
}

/// Content and executable bit by path, sorted by bytes.
type Files = BTreeMap<String, (Vec<u8>, bool)>;

/// Writes a `.zip` using only features that every reader supports. It is written here so that no
/// library update changes its bytes. [`limits`] keep every number within the format's range.
fn archive(name: &str, files: &Files) -> Vec<u8> {
    let (mut bytes, mut directory) = (Vec::new(), Vec::new());
    for (path, (content, executable)) in files {
        let path = format!("{name}/{path}");
        let mut sum = flate2::Crc::new();
        sum.update(content);
        let size = int(content.len());
        // Version 1.0, names in UTF-8, stored, midnight of 1 January 1980.
        let mut entry = [10_u16, 0x0800, 0, 0, 0x21].map(u16::to_le_bytes).concat();
        let sizes = [sum.sum(), size, size, int(path.len())];
        entry.extend(sizes.map(u32::to_le_bytes).concat());
        let mode: u32 = if *executable { 0o100_755 } else { 0o100_644 };
        directory.extend_from_slice(b"PK\x01\x02");
        // Made on Unix, so that the mode is used.
        directory.extend(0x030a_u16.to_le_bytes());
        directory.extend_from_slice(&entry);
        // No comment, disk number or internal attributes.
        directory.extend([0; 6]);
        let place = [mode << 16, int(bytes.len())];
        directory.extend(place.map(u32::to_le_bytes).concat());
        directory.extend_from_slice(path.as_bytes());
        bytes.extend_from_slice(b"PK\x03\x04");
        bytes.extend(entry);
        bytes.extend_from_slice(path.as_bytes());
        bytes.extend_from_slice(content);
    }
    let count = u16::try_from(files.len()).unwrap_or(u16::MAX).to_le_bytes();
    let sizes = [int(directory.len()), int(bytes.len())];
    bytes.extend(directory);
    bytes.extend_from_slice(b"PK\x05\x06\0\0\0\0");
    // The number of entries on this disk, and in total.
    bytes.extend([count, count].concat());
    bytes.extend(sizes.map(u32::to_le_bytes).concat());
    bytes.extend([0; 2]);
    bytes
}

fn int(number: usize) -> u32 {
    u32::try_from(number).unwrap_or(u32::MAX)
}

struct Packing {
    /// Without links in its path.
    root: Dir,
    files: Files,
    left_out: Vec<String>,
    bytes: u64,
    steps: usize,
}

impl Packing {
    /// Adds the content of `from` below `to`, which ends in a slash unless it is empty. `within` are
    /// the directories that led here.
    fn directory(&mut self, from: &Path, to: &str, within: &mut Vec<PathBuf>) -> Result<()> {
        within.push(from.to_owned());
        let unreadable = |error| Error::io("read directory", from, &error);
        let below = from.strip_prefix(self.root.path()).unwrap_or(from);
        let entries = self.root.open_dir_below(below);
        let entries = entries.and_then(|dir| dir.entries());
        for (entry, _) in entries.map_err(unreadable)? {
            let is_plain = |name: &&str| !name.contains('\\') && !name.contains(char::is_control);
            let name = entry.as_str().filter(is_plain).ok_or_else(|| {
                let name = entry.as_os_str().display().to_string();
                let text = format!("the file name `{}` is not plain text", name.escape_debug());
                Error::new(text)
                    .hint("rename the file: archives and other systems need plain names")
            })?;
            if is_litter(name) {
                self.left_out.push(format!("{to}{name}"));
            } else {
                self.entry(&from.join(name), format!("{to}{name}"), within)?;
            }
        }
        within.pop();
        Ok(())
    }

    fn entry(&mut self, full: &Path, path: String, within: &mut Vec<PathBuf>) -> Result<()> {
        let link = |why: &str| {
            Error::new(format!("`{path}` is a link that points {why}"))
                .hint("replace it by the file itself, or remove it")
        };
        // A link is replaced by its target, as in an install.
        self.steps += 1;
        if self.steps > limits::WALK_STEPS {
            return Err(package_too_large(&self.root.path().display().to_string()));
        }
        let real = full.canonicalize().map_err(|_| link("nowhere"))?;
        let below = real.strip_prefix(self.root.path());
        let below = below.map_err(|_| link("out of the skill"))?;
        if real.is_dir() {
            if within.iter().any(|dir| dir.starts_with(&real)) {
                return Err(link("to a directory that contains it"));
            }
            return self.directory(&real, &format!("{path}/"), within);
        }
        let below = EntryPath::parse(below).filter(|_| real.is_file());
        let below = below.ok_or_else(|| {
            let text = format!("`{path}` is not a regular file");
            Error::new(text).hint("a skill has regular files only: remove it")
        })?;
        let too_large =
            |error| Error::io("read", full, &error).hint("leave out what the skill does not need");
        let packed = self.root.open_below(&below).and_then(|(file, metadata)| {
            let content = files::read_file_capped(&file, metadata.len(), limits::DOWNLOAD)?;
            Ok((content, metadata.permissions().mode() & 0o100 != 0))
        });
        let (content, executable) = packed.map_err(too_large)?;
        self.bytes += content.len() as u64;
        self.files.insert(path, (content, executable));
        if self.files.len() > limits::ARCHIVE_FILES || self.bytes > limits::DOWNLOAD {
            return Err(package_too_large(&self.root.path().display().to_string()));
        }
        Ok(())
    }
}

fn package_too_large(name: &str) -> Error {
    let (files, bytes) = (limits::ARCHIVE_FILES, limits::DOWNLOAD);
    let text = format!(
        "`{name}` has more than {files} files or {bytes} bytes, which an install does not take"
    );
    Error::new(text).hint("leave out what is built or downloaded")
}

/// Leftovers of version control, editors and operating systems, by name.
const LITTER: Names = Names::new(
    ".git .hg .svn .jj .DS_Store Thumbs.db desktop.ini __pycache__ __MACOSX .pytest_cache .venv \
     node_modules",
);

/// Files that usually hold passwords or keys, by name, and the directories of such.
const SECRETS: Names = Names::new(
    ".env .netrc _netrc .npmrc .pypirc .git-credentials credentials .pgpass .htpasswd id_rsa id_dsa \
     id_ecdsa id_ed25519 id_ecdsa_sk id_ed25519_sk",
);
const OF_SECRETS: Names = Names::new(".ssh .gnupg .aws .kube .docker");

/// Leftover files, including editor backups and lock files.
fn is_litter(name: &str) -> bool {
    let ends = [".pyc", ".swp", ".swo", ".tmp", "~"];
    let begins = [".#", ".~lock.", "._"];
    LITTER.has(name)
        || ends.iter().any(|end| name.ends_with(end))
        || begins.iter().any(|begin| name.starts_with(begin))
}

/// Files that usually hold passwords or keys.
fn is_doubtful(path: &str) -> bool {
    let path = path.to_lowercase();
    let mut dirs: Vec<&str> = path.split('/').collect();
    let name = dirs.pop().unwrap_or_default();
    let ends = [".pem", ".key", ".p12", ".pfx", ".jks", ".kdbx", ".ppk"];
    let template = ["example", "sample", "template"];
    // `.env.local` and `prod.env`, but no `example.env`.
    let environment = name.strip_prefix(".env.");
    let environment = environment.or_else(|| name.strip_suffix(".env"));
    environment.is_some_and(|kind| !template.contains(&kind))
        || SECRETS.has(name)
        || dirs.iter().any(|dir| OF_SECRETS.has(dir))
        || ends.iter().any(|end| name.ends_with(end))
}

/// The manifest of a packed skill.
///
/// # Errors
/// When it has files that some systems take for one, so that no install could check it.
pub fn manifest(skill: &Skill, packed: &Package) -> Result<Manifest> {
    let (name, version) = (skill.authors_name(), skill.fields.version());
    let manifest = Manifest::new(&name, version, packed.digests());
    match Manifest::parse(&manifest.render()) {
        Ok(_) => Ok(manifest),
        Err(error) => Err(Error::new(error.to_string()).hint("rename one of the files, then sign")),
    }
}

/// Findings about a manifest in the skill's directory: an install refuses one of other files.
pub fn lint_manifest(skill: &Skill) -> Option<LintFinding> {
    let file = skill.dir.join(MANIFEST);
    let read = files::if_there(files::read_unlinked(&file, limits::MANIFEST));
    let found = |code, why: &str| {
        let shown = file.display().to_string();
        Some(LintFinding::new(code, shown, (1, 1), why))
    };
    let text = match read {
        Ok(None) => return None,
        Ok(Some((_, bytes))) => String::from_utf8_lossy(&bytes).into_owned(),
        Err(error) => return found("manifest-differs", &format!("it cannot be read: {error}")),
    };
    let signature = skill.dir.join(format!("{MANIFEST}{SSH_SIGNATURE}"));
    if !signature.exists() {
        return found("manifest-unsigned", "nothing beside the manifest signs it");
    }
    let signed = match Manifest::parse(&text) {
        Ok(signed) => signed,
        Err(error) => return found("manifest-differs", &error.to_string()),
    };
    // What cannot be packed is a finding of its own.
    let packed = package(&skill.dir, skill.name.as_str()).ok()?;
    // An executable one would be a program, and an install refuses it.
    let is_own = |path: &str, digest: &str| is_signature_file(path) && !digest.ends_with("+x");
    let own = packed.digests();
    let own = own.filter(|(path, digest)| is_own(path, digest));
    let own: Vec<String> = own.map(|(_, digest)| digest.to_owned()).collect();
    let why = signed.first_difference(&skill.authors_name(), packed.digests(), &own)?;
    let why = format!("the manifest is not of these files: {why}");
    found("manifest-differs", &why)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sys::dir::swapping::while_swapped;
    use sha2::{Digest, Sha256};
    use std::fs;

    fn skill() -> tempfile::TempDir {
        let root = tempfile::tempdir().unwrap();
        let write = |path: &str, text: &str, mode: u32| {
            let path = root.path().join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(&path, text).unwrap();
            fs::set_permissions(&path, fs::Permissions::from_mode(mode)).unwrap();
        };
        write("SKILL.md", "---\nname: x\ndescription: d\n---\nb\n", 0o600);
        write("scripts/run.sh", "echo\n", 0o700);
        write("scripts-x", "s\n", 0o664);
        for litter in [
            ".git/config",
            ".DS_Store",
            "a.pyc",
            "SKILL.md~",
            ".~lock.a.odt#",
        ] {
            write(litter, "x", 0o644);
        }
        root
    }

    #[test]
    fn the_bytes_are_those_of_every_machine_and_release() {
        let packed = package(skill().path(), "x").unwrap();
        let digest = format!("{:x}", Sha256::digest(&packed.bytes));
        assert_eq!(
            digest,
            "4800c04813b269495db8a9b3be30b870042b076b061424bc8d164e89420cca98"
        );
        assert_eq!(packed.digests.len(), 3);
        assert_eq!(
            packed.left_out,
            [".DS_Store", ".git", ".~lock.a.odt#", "SKILL.md~", "a.pyc"]
        );
    }

    #[test]
    fn a_layer_has_the_same_bytes_on_each_machine() {
        let one = package(skill().path(), "x").unwrap().layer().unwrap();
        assert_eq!(one, package(skill().path(), "x").unwrap().layer().unwrap());
        let mut tar = tar::Archive::new(flate2::read::GzDecoder::new(&one[..]));
        let entry = |entry: std::io::Result<tar::Entry<_>>| {
            let entry = entry.unwrap();
            let header = entry.header();
            let of = [header.uid(), header.gid(), header.mtime()].map(Result::unwrap);
            assert_eq!(of, [0; 3]);
            (
                entry.path().unwrap().display().to_string(),
                header.mode().unwrap(),
            )
        };
        let found: Vec<_> = tar.entries().unwrap().map(entry).collect();
        let found: Vec<_> = found.iter().map(|(path, mode)| (&**path, *mode)).collect();
        let wanted = [
            ("x/SKILL.md", 0o644),
            ("x/scripts-x", 0o644),
            ("x/scripts/run.sh", 0o755),
        ];
        assert_eq!(found, wanted);
    }

    #[test]
    fn what_often_holds_secrets_is_named() {
        let root = skill();
        for name in [
            ".env",
            "scripts/.env.local",
            "Server.PEM",
            "id_rsa",
            ".env.example",
            "id_rsa.pub",
            "prod.env",
            "example.env",
            ".ssh/known",
            ".npmrc",
        ] {
            fs::create_dir_all(root.path().join(".ssh")).unwrap();
            fs::write(root.path().join(name), "x").unwrap();
        }
        let packed = package(root.path(), "x").unwrap();
        let doubtful = [
            ".env",
            ".npmrc",
            ".ssh/known",
            "Server.PEM",
            "id_rsa",
            "prod.env",
            "scripts/.env.local",
        ];
        assert_eq!(packed.doubtful, doubtful);
    }

    #[test]
    fn links_are_followed_inside_and_refused_outside() {
        let root = skill();
        let link =
            |to: &str, name: &str| std::os::unix::fs::symlink(to, root.path().join(name)).unwrap();
        link("scripts", "inside");
        assert_eq!(package(root.path(), "x").unwrap().digests.len(), 4);
        for (to, why) in [
            ("/etc/passwd", "out of"),
            ("..", "out of"),
            ("missing", "nowhere"),
            (".", "contains"),
        ] {
            link(to, "odd");
            let error = package(root.path(), "x").unwrap_err();
            assert!(error.to_string().contains(why), "{to}: {error}");
            fs::remove_file(root.path().join("odd")).unwrap();
        }
        fs::write(root.path().join("a\\b"), "").unwrap();
        assert!(package(root.path(), "x").is_err());
    }

    #[test]
    fn links_that_multiply_directories_end() {
        let root = skill();
        crate::sys::tree::multiply(root.path());
        assert!(package(root.path(), "x").is_err());
    }

    #[test]
    fn nothing_outside_is_packed_while_links_are_swapped_in() {
        while_swapped(|skill| {
            let Ok(packed) = package(skill, "x") else {
                return false;
            };
            let text = String::from_utf8_lossy(&packed.bytes);
            assert!(!text.contains("secret") && !text.contains("only-outside"));
            text.contains("inside")
        });
    }
}
