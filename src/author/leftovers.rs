//! Files that are no part of a skill, and files that usually hold secrets, by their names.

/// Leftovers of version control, editors and operating systems, by name.
const LITTER: [&str; 12] = [
    ".git",
    ".hg",
    ".svn",
    ".jj",
    ".DS_Store",
    "Thumbs.db",
    "desktop.ini",
    "__pycache__",
    "__MACOSX",
    ".pytest_cache",
    ".venv",
    "node_modules",
];

/// Leftover files, including editor backups and lock files.
pub fn is_litter(name: &str) -> bool {
    let ends = [".pyc", ".swp", ".swo", ".tmp", "~"];
    let begins = [".#", ".~lock.", "._"];
    LITTER.contains(&name)
        || ends.iter().any(|end| name.ends_with(end))
        || begins.iter().any(|begin| name.starts_with(begin))
}

/// Files that usually hold passwords or keys.
pub fn is_doubtful(path: &str) -> bool {
    let path = path.to_lowercase();
    let mut dirs: Vec<&str> = path.split('/').collect();
    let name = dirs.pop().unwrap_or_default();
    let of_keys = [".ssh", ".gnupg", ".aws", ".kube", ".docker"];
    let names = [
        ".env",
        ".netrc",
        ".npmrc",
        ".pypirc",
        ".git-credentials",
        "credentials",
        "id_rsa",
        "_netrc",
        ".pgpass",
        ".htpasswd",
        "id_dsa",
        "id_ecdsa",
        "id_ed25519",
        "id_ecdsa_sk",
        "id_ed25519_sk",
    ];
    let ends = [".pem", ".key", ".p12", ".pfx", ".jks", ".kdbx", ".ppk"];
    let template = ["example", "sample", "template"];
    // `.env.local` and `prod.env`, but no `example.env`.
    let environment = name
        .strip_prefix(".env.")
        .or_else(|| name.strip_suffix(".env"));
    environment.is_some_and(|kind| !template.contains(&kind))
        || names.contains(&name)
        || dirs.iter().any(|dir| of_keys.contains(dir))
        || ends.iter().any(|end| name.ends_with(end))
}
