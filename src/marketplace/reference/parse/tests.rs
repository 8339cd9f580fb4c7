//! Every form of a reference (docs/spec/references.md#reference-forms), and texts that are not
//! references.

use super::*;
use crate::marketplace::reference::{OciReference, Reading, Revision, SourceLocation, WebUrl};
use proptest::prelude::*;

/// A reading as `URL | at | want`.
fn shown(reading: &Reading) -> String {
    let want = match &reading.want {
        RepositoryPart::Any => "any".to_owned(),
        RepositoryPart::Root => "root".to_owned(),
        RepositoryPart::Named(name) => format!("skill {name}"),
        RepositoryPart::Path(path) => format!("path {}", path.as_str()),
        RepositoryPart::PathOrName(path) => format!("path or skill {}", path.as_str()),
    };
    match &reading.place {
        SourceLocation::Repository { url, at } => {
            let at = match at {
                Revision::Default => "default".to_owned(),
                Revision::RefName(rev) => rev.as_str().to_owned(),
                Revision::Pin(pin) => pin.to_string(),
                Revision::RefAndPath(place) => format!("[{}]", place.as_str()),
            };
            format!("{} | {at} | {want}", url.as_str())
        }
        SourceLocation::Local(path) => format!("local {path}"),
        SourceLocation::Archive { url, sha256 } => {
            format!(
                "archive {url} | {} | {want}",
                sha256.as_deref().unwrap_or("any")
            )
        }
        SourceLocation::WellKnown(url) => format!("site {url} | {want}"),
        SourceLocation::File(url) => format!("file {url}"),
        SourceLocation::Registry { repo, at } => {
            let at = at.as_ref().map(OciReference::suffix).unwrap_or_default();
            format!("artifact {repo}{at} | {want}")
        }
    }
}

const OF_BYTES: &str = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";

fn understood_as(written: &str, reading: Option<ReferenceForm>) -> Vec<String> {
    match Reference::parse(written, reading).unwrap() {
        Reference::Named { name, source } => {
            vec![format!(
                "name {name} of {}",
                source.as_deref().unwrap_or("any")
            )]
        }
        Reference::Readings(readings) => readings.iter().map(shown).collect(),
    }
}

fn understood(written: &str) -> Vec<String> {
    understood_as(written, None)
}

#[test]
fn a_registry_has_tags_digests_and_skills() {
    for (written, expected) in [
        (
            "oci://h.org/a/b",
            "artifact oci://h.org/a/b | any".to_owned(),
        ),
        (
            "oci://h.org:5000/a/b:v1@pdf",
            "artifact oci://h.org:5000/a/b:v1 | skill pdf".to_owned(),
        ),
        (
            &format!("oci://h.org/a:v1@sha256:{OF_BYTES}@pdf"),
            format!("artifact oci://h.org/a@sha256:{OF_BYTES} | skill pdf"),
        ),
    ] {
        assert_eq!(understood(written), [expected], "{written}");
    }
    for bad in [
        "oci://h.org/a#v1",
        "oci://u:p@h.org/a",
        "oci://h.org/a@sha512:00",
        "oci://h.org/a:",
        "oci://h.org/a@pdf@git",
        "oci://h.org",
        "oci://h.org:80",
    ] {
        assert!(Reference::parse(bad, None).is_err(), "{bad}");
    }
}

#[test]
fn every_form_with_one_meaning() {
    let gh = "https://github.com/o/r";
    for (written, expected) in [
        ("./x", "local ./x".to_owned()),
        ("../x#y", "local ../x#y".to_owned()),
        ("/x", "local /x".to_owned()),
        ("~/x", "local ~/x".to_owned()),
        (".", "local .".to_owned()),
        ("github:o/r", format!("{gh} | default | any")),
        ("github:o/r@s#v1", format!("{gh} | v1 | skill s")),
        (
            "github:o/r/a/b",
            format!("{gh} | default | path or skill a/b"),
        ),
        (
            "gitlab:g/s/p",
            "https://gitlab.com/g/s/p | default | any".to_owned(),
        ),
        ("https://github.com/o/r", format!("{gh} | default | any")),
        (
            "https://github.com/o/r.git#dev",
            format!("{gh} | dev | any"),
        ),
        ("https://github.com/o/r/", format!("{gh} | default | any")),
        (
            "https://github.com/o/r@s",
            format!("{gh} | default | skill s"),
        ),
        ("github.com/o/r", format!("{gh} | default | any")),
        (
            "https://github.com/o/r/tree/main",
            format!("{gh} | [main] | any"),
        ),
        (
            "https://github.com/o/r/tree/f/x/skills/s",
            format!("{gh} | [f/x/skills/s] | any"),
        ),
        (
            "https://github.com/o/r/blob/main/a/SKILL.md",
            format!("{gh} | [main/a/SKILL.md] | any"),
        ),
        (
            "https://github.com/o/r/tree/main/a%20b",
            format!("{gh} | [main/a b] | any"),
        ),
        (
            "https://gitlab.com/g/s/p/-/tree/main/a",
            "https://gitlab.com/g/s/p | [main/a] | any".to_owned(),
        ),
        (
            "https://gitlab.com/g/s/p",
            "https://gitlab.com/g/s/p | default | any".to_owned(),
        ),
        (
            "https://bitbucket.org/o/r/src/main/a",
            "https://bitbucket.org/o/r | [main/a] | any".to_owned(),
        ),
        ("git@h:o/r.git", "git@h:o/r.git | default | any".to_owned()),
        (
            "git@h:o/r.git@s#v",
            "git@h:o/r.git | v | skill s".to_owned(),
        ),
        (
            "ssh://git@h/o/r",
            "ssh://git@h/o/r | default | any".to_owned(),
        ),
        ("git://h/o/r", "git://h/o/r | default | any".to_owned()),
        ("file:///t/r#x", "file:///t/r | x | any".to_owned()),
        (
            "file:///t/r@s",
            "file:///t/r | default | skill s".to_owned(),
        ),
        ("o/r.git", format!("{gh} | default | any")),
        ("o/r@s", format!("{gh} | default | skill s")),
        ("o/r@ce:work#f/x", format!("{gh} | f/x | skill ce:work")),
        (
            "o/r/skills/s#v1",
            format!("{gh} | v1 | path or skill skills/s"),
        ),
        ("pdf", "name pdf of any".to_owned()),
        ("pdf@acme-tools", "name pdf of acme-tools".to_owned()),
        (
            "https://dev.azure.com/o/p/_git/r?path=/skills/a%20b&version=GBmain",
            "https://dev.azure.com/o/p/_git/r | refs/heads/main | path skills/a b".to_owned(),
        ),
        (
            "https://o.visualstudio.com/p/_git/r",
            "https://o.visualstudio.com/p/_git/r | default | any".to_owned(),
        ),
    ] {
        assert_eq!(understood(written), [expected], "{written}");
    }
}

/// What people copy from a browser or a terminal, with what it means, as [`shown`] writes it.
const COPIED: &[(&str, &str)] = &[
    (
        "https://github.com/o/r?tab=readme-ov-file",
        "GH | default | any",
    ),
    (
        "https://github.com/o/r/?tab=readme-ov-file#usage",
        "GH | default | any",
    ),
    ("https://github.com/o/r#readme", "GH | default | any"),
    (
        "https://github.com/o/r#readme-ov-file",
        "GH | default | any",
    ),
    ("https://github.com/o/r#dev", "GH | dev | any"),
    ("https://github.com/o/r#L3-L9", "GH | default | any"),
    ("https://github.com/o/r#L10n", "GH | L10n | any"),
    ("https://github.com/o/r#L4T-35", "GH | L4T-35 | any"),
    (
        "https://github.com/o/r?tab=readme-ov-file#v1.2.0",
        "GH | v1.2.0 | any",
    ),
    ("https://github.com/o/r.skill", "GH.skill | default | any"),
    (
        "https://github.com/o/r.skill#dev@s",
        "GH.skill | dev@s | any",
    ),
    (
        "https://github.com/o/r/tree/main/s.skill",
        "GH | [main/s.skill] | any",
    ),
    (
        "https://github.com/o/r/releases/download/v1/s.skill",
        "archive GH/releases/download/v1/s.skill | any | any",
    ),
    ("https://www.github.com/o/r", "GH | default | any"),
    ("http://www.github.com/o/r", "refused"),
    (
        "www.github.com/o/r/skills/s",
        "GH | default | path or skill skills/s",
    ),
    (
        "https://GitHub.com/o/r/skills/s/",
        "GH | default | path or skill skills/s",
    ),
    ("https://github.com/o/r.git/", "GH | default | any"),
    (
        "https://github.com/o/r.git/skills/s",
        "GH | default | path or skill skills/s",
    ),
    (
        "https://github.com/o/r/skills/s#v1",
        "GH | v1 | path or skill skills/s",
    ),
    (
        "https://github.com/o/r/src/branch/s",
        "GH | default | path or skill src/branch/s",
    ),
    (
        "https://github.com/o/r/SKILL.md",
        "GH | default | path or skill SKILL.md",
    ),
    (
        "o/r/skills/s/SKILL.md",
        "GH | default | path or skill skills/s/SKILL.md",
    ),
    ("github:o/r/SKILL.md#v1", "GH | v1 | path or skill SKILL.md"),
    (
        "https://github.com/o/r/tree/main/skills/s?tab=readme-ov-file",
        "GH | [main/skills/s] | any",
    ),
    (
        "https://github.com/o/r/tree/main/skills/s/#how-to-use-it",
        "GH | [main/skills/s] | any",
    ),
    (
        "https://github.com/o/r/blob/main/skills/s/SKILL.md?plain=1#L3-L9",
        "GH | [main/skills/s/SKILL.md] | any",
    ),
    (
        "https://github.com/o/r/blob/main/skills/s/skill.md#L3",
        "GH | [main/skills/s/skill.md] | any",
    ),
    (
        "https://github.com/o/r/blob/refs/heads/main/SKILL.md",
        "GH | [refs/heads/main/SKILL.md] | any",
    ),
    (
        "https://github.com/o/r/raw/main/s/SKILL.md",
        "GH | [main/s/SKILL.md] | any",
    ),
    (
        "https://github.com/o/r/raw/refs/heads/main/s/SKILL.md",
        "GH | [refs/heads/main/s/SKILL.md] | any",
    ),
    (
        "https://raw.githubusercontent.com/o/r/main/s/SKILL.md",
        "GH | [main/s/SKILL.md] | any",
    ),
    (
        "https://raw.githubusercontent.com/o/r/main/s/a.zip",
        "archive https://raw.githubusercontent.com/o/r/main/s/a.zip | any | any",
    ),
    (
        "https://github.com/o/r/commits/main/skills",
        "GH | [main/skills] | any",
    ),
    (
        "https://github.com/o/r/releases/tag/v1",
        "GH | [refs/tags/v1] | any",
    ),
    ("https://github.com/o/r/issues/1", "refused"),
    ("https://github.com/o/r/pulls?q=is%3Aopen", "refused"),
    ("https://github.com/o/r/tree/main#v1", "refused"),
    (
        "https://codeberg.org/o/r/src/branch/main/skills/s",
        "CB | [refs/heads/main/skills/s] | any",
    ),
    (
        "https://codeberg.org/o/r/src/branch/f/x/s/SKILL.md#L3",
        "CB | [refs/heads/f/x/s/SKILL.md] | any",
    ),
    (
        "https://codeberg.org/o/r/src/tag/v1/s?display=source",
        "CB | [refs/tags/v1/s] | any",
    ),
    (
        "https://codeberg.org/o/r/src/commit/0123456/s",
        "CB | [0123456/s] | any",
    ),
    (
        "https://codeberg.org/o/r/raw/branch/main/s/SKILL.md",
        "CB | [refs/heads/main/s/SKILL.md] | any",
    ),
    (
        "https://codeberg.org/o/r/skills/s",
        "CB | default | path or skill skills/s",
    ),
    (
        "https://code.example.org/o/r/src/branch/main/s",
        "https://code.example.org/o/r | [refs/heads/main/s] | any",
    ),
    (
        "https://gitlab.com/g/s/p/-/tree/main/a?ref_type=heads",
        "GL | [refs/heads/main/a] | any",
    ),
    (
        "https://gitlab.com/g/s/p/-/blob/v1/a/SKILL.md?ref_type=tags#L3",
        "GL | [refs/tags/v1/a/SKILL.md] | any",
    ),
    (
        "https://gitlab.com/g/s/p/-/raw/main/a/SKILL.md",
        "GL | [main/a/SKILL.md] | any",
    ),
    (
        "https://gitlab.com/g/s/p/-/tags/v1",
        "GL | [refs/tags/v1] | any",
    ),
    (
        "https://gitlab.com/g/s/p.git",
        "https://gitlab.com/g/s/p.git | default | any",
    ),
    ("https://gitlab.com/g/s/p#readme", "GL | default | any"),
    (
        "https://bitbucket.org/o/r/src/main/a/SKILL.md?at=main#lines-3",
        "https://bitbucket.org/o/r | [main/a/SKILL.md] | any",
    ),
    (
        "https://dev.azure.com/o/p/_git/r?path=/s/SKILL.md&version=GTv1",
        "https://dev.azure.com/o/p/_git/r | refs/tags/v1 | path s/SKILL.md",
    ),
    (
        "https://example.org/docs#readme",
        "site https://example.org/docs | any",
    ),
    (
        "https://example.org/s/SKILL.md?x=1",
        "file https://example.org/s/SKILL.md?x=1",
    ),
    (
        "https://git.example.org/o/r.git/SKILL.md",
        "https://git.example.org/o/r.git | default | any",
    ),
    (
        "git@github.com:o/r.git",
        "git@github.com:o/r.git | default | any",
    ),
    ("git@h:o/r.git/", "git@h:o/r.git | default | any"),
    (
        "ssh://git@h:2222/o/r.git#v1",
        "ssh://git@h:2222/o/r.git | v1 | any",
    ),
];

#[test]
fn a_reference_may_be_as_it_is_copied() {
    for (written, expected) in COPIED {
        let expected = [
            "GH=https://github.com/o/r",
            "CB=https://codeberg.org/o/r",
            "GL=https://gitlab.com/g/s/p",
        ]
        .iter()
        .filter_map(|short| short.split_once('='))
        .fold((*expected).to_owned(), |text, (short, url)| {
            text.replace(short, url)
        });
        let found = Reference::parse(written, None)
            .map_or("refused".to_owned(), |_| understood(written).join(", "));
        assert_eq!(found, expected, "{written}");
    }
}

#[test]
fn addresses_of_archives_files_sites_and_forges_are_told_apart() {
    for (written, expected) in [
        ("./x.zip", "local ./x.zip".to_owned()),
        (
            "https://example.org/x.zip",
            "archive https://example.org/x.zip | any | any".to_owned(),
        ),
        (
            "https://github.com/o/r/archive/refs/heads/main.tar.gz@s",
            "archive https://github.com/o/r/archive/refs/heads/main.tar.gz | any | skill s"
                .to_owned(),
        ),
        (
            "https://example.org/a/SKILL.md",
            "file https://example.org/a/SKILL.md".to_owned(),
        ),
        (
            "https://example.org",
            "site https://example.org/ | any".to_owned(),
        ),
        (
            "https://example.org/docs@s",
            "site https://example.org/docs | skill s".to_owned(),
        ),
        (
            "https://git.example.org/o/r",
            "https://git.example.org/o/r | default | any".to_owned(),
        ),
        (
            "https://example.org/o/r.git",
            "https://example.org/o/r.git | default | any".to_owned(),
        ),
        (
            "https://example.org/o/r#main",
            "https://example.org/o/r | main | any".to_owned(),
        ),
    ] {
        assert_eq!(understood(written), [expected], "{written}");
    }
}

#[test]
fn owner_slash_name_has_three_meanings_in_a_fixed_order() {
    assert_eq!(
        understood("o/n#v"),
        [
            "https://github.com/o/skills | v | skill n",
            "https://github.com/o/n | v | any",
            "https://github.com/o/agent-skills | v | skill n",
        ]
    );
}

#[test]
fn a_reading_that_is_asked_for_is_the_only_one() {
    for (written, reading, expected) in [
        (
            "o/n",
            ReferenceForm::Repository,
            "https://github.com/o/n | default | any",
        ),
        (
            "o/n",
            ReferenceForm::Registry,
            "https://github.com/o/skills | default | skill n",
        ),
        ("o/n", ReferenceForm::Path, "local o/n"),
        (
            "example.org/n",
            ReferenceForm::Url,
            "site https://example.org/n | any",
        ),
        ("n", ReferenceForm::Registry, "name n of any"),
        (
            "https://example.org/o/r",
            ReferenceForm::Repository,
            "https://example.org/o/r | default | any",
        ),
    ] {
        assert_eq!(
            understood_as(written, Some(reading)),
            [expected],
            "{written}"
        );
    }
    let digest = "0".repeat(64);
    assert_eq!(
        understood(&format!("https://h.org/x.zip#sha256={digest}")),
        [format!("archive https://h.org/x.zip | {digest} | any")]
    );
}

#[test]
fn what_could_do_harm_or_has_no_form_is_refused_with_the_forms() {
    for bad in [
        "",
        " ",
        "-x",
        "--upload-pack=x",
        "ext::sh -c x",
        "ext::sh/x",
        "npm:x",
        "C:\\x",
        "o/..",
        "../..\u{0}",
        "o/-r",
        "-o/r",
        "o/r/../x",
        "o/r/a//b",
        "o/r#",
        "o/r#-x",
        "o/r#a..b",
        "o/r@",
        "o/r@..",
        "o/r@../../x",
        "o/r/p@s",
        "s@",
        "@s",
        "pdf#v1",
        "clawhub:x",
        "https://example.org/x.zip#sha256=12",
        "https://-h/o/r",
        "https://github.com/o",
        "https://github.com/o/r/issues/1",
        "https://github.com/o/r/tree/main/../../x",
        "https://github.com/o/r/tree/main/%2e%2e/x",
        "https://github.com/o/r/tree/main#v1",
        "git@h:-o/r",
        "a\u{7}b/c",
    ] {
        let error = Reference::parse(bad, None).expect_err(bad);
        assert!(error.next_step().is_some(), "{bad}");
    }
}

proptest! {
    #[test]
    fn nothing_that_is_parsed_begins_with_a_hyphen(
        written in "(-|--|@|:|/|#|\\.\\.|o|r|https://|git@h:|ext::|github:){1,8}"
    ) {
        let Ok(Reference::Readings(readings)) = Reference::parse(&written, None) else {
            return Ok(());
        };
        for reading in readings {
            let SourceLocation::Repository { url, at } = reading.place else { continue };
            prop_assert!(!url.as_str().starts_with('-'));
            prop_assert!(!url.as_str().contains("::"));
            prop_assert!(!url.as_str().split(['/', ':', '@']).any(|p| p.starts_with('-')));
            if let Revision::RefName(rev) = at {
                prop_assert!(!rev.as_str().starts_with('-'));
            }
        }
    }
}

#[test]
fn downloads_may_be_a_forks_unless_a_ref_is_named() {
    for (url, may_be) in [
        ("https://github.com/o/r/archive/0123456.zip", true),
        ("https://github.com/o/r/archive/main.tar.gz", true),
        ("https://github.com/o/r/archive/refs/tags/v1.zip", false),
        ("https://github.com/o/r/archive/refs/pull/1/head.zip", true),
        ("https://github.com/o/r/releases/download/v1/s.zip", false),
        ("https://github.com/o/releases/download/x/s.zip", true),
        (
            "https://codeload.github.com/o/r/zip/refs/heads/main.zip",
            false,
        ),
        (
            "https://raw.githubusercontent.com/o/r/refs/heads/main/SKILL.md",
            false,
        ),
        (
            "https://raw.githubusercontent.com/o/r/0123456/refs/heads/SKILL.md",
            true,
        ),
        ("https://gitlab.com/o/r/-/archive/0123456/r.zip", true),
        ("https://git.example.org/o/r/archive/0123456.zip", true),
        ("https://example.org/o/r/archive/0123456.zip", false),
    ] {
        let url = WebUrl::parse(url).unwrap();
        assert_eq!(may_be_a_forks(&url), may_be, "{url}");
    }
}

#[test]
fn no_message_has_a_credential_of_an_address() {
    for written in [
        "https://user:s3cret@h.org/x.tar.gz",
        "https://user:s3cret@h.org/x.tar.gz@skill",
        "https://s3cret@h.org/x/SKILL.md",
        "https://user:s3cret@h.org/o/r.git",
        "https://user:s3cret@github.com/o/r/tree/main/x",
        "https://user:s3cret@dev.azure.com/o/p/_git/r?version=GBmain",
        "https://user:s3cret@h.org",
        "http://user:s3cret@h.org/x.zip",
        "ssh://user:s3cret@h.org/o/r",
        "user:s3cret@h.org:o/r.git",
        "user:s3cret@h.org/o/r",
        "ftp://user:s3cret@h.org/x",
    ] {
        for reading in [
            None,
            Some(ReferenceForm::Repository),
            Some(ReferenceForm::Url),
        ] {
            let refused = Reference::parse(written, reading).map(|_| ()).unwrap_err();
            let told = format!("{refused} {:?}", refused.next_step());
            assert!(!told.contains("s3cret"), "{told}");
        }
    }
}
