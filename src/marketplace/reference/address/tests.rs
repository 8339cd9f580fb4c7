use super::*;

#[test]
fn addresses_that_could_do_harm_are_refused() {
    for bad in [
        "",
        "-oProxyCommand=x",
        "--upload-pack=x",
        "ext::sh -c x",
        "https://-host/o/r",
        "ssh://-oProxyCommand=x/o/r",
        "ssh://u@-h/o/r",
        "git@-h:o/r.git",
        "-git@h:o/r",
        "git@h:../r",
        "git@h:x:-o",
        "https://h/../r",
        "https://h/o/-r",
        "https://user:token@github.com/o/r",
        "http://github.com/o/r",
        "file://host/x",
        "ftp://h/o/r",
        "https://h",
        "https:///o/r",
        "https://h/o\u{7}/r",
        "https://h/o r",
        "https://h:x/o/r",
        "https://h:0443/o/r",
        "https://github.com./o/r",
        "ssh://git@[abc.de]/o/r",
        "ssh://git@[0:0::1]/o/r",
        "git@10.5:o/r.git",
        "ssh://git@0xa.0.0.5/o/r",
        "ssh://git@167772165/o/r",
        "C:\\x",
        "fd::17/x",
    ] {
        assert!(RepoUrl::parse(bad).is_err(), "{bad:?}");
    }
}

#[test]
fn addresses_have_an_owner_and_a_name() {
    for (written, canonical, owner, name) in [
        (
            "https://www.GitHub.com:443/o/r.git",
            "https://github.com/o/r",
            "o",
            "r",
        ),
        (
            "https://gitlab.com/g/s/p.git/",
            "https://gitlab.com/g/s/p.git",
            "s",
            "p",
        ),
        ("git@h.org:o/r.git", "git@h.org:o/r.git", "o", "r"),
        ("ssh://git@h:22/o/r", "ssh://git@h:22/o/r", "o", "r"),
        ("git://h/o/r", "git://h/o/r", "o", "r"),
        ("file:///tmp/repos/o/r", "file:///tmp/repos/o/r", "o", "r"),
        (
            "http://127.0.0.1:80/o/r",
            "http://127.0.0.1:80/o/r",
            "o",
            "r",
        ),
        ("http://[::1]:80/o/r", "http://[::1]:80/o/r", "o", "r"),
    ] {
        let url = RepoUrl::parse(written).unwrap();
        assert_eq!(
            (url.as_str(), url.owner(), url.repo_name()),
            (canonical, Some(owner), name)
        );
    }
}

#[test]
fn a_mirror_stands_in_for_github_only() {
    for (written, address) in [
        ("https://github.com/o/r", "file:///m/o/r"),
        ("https://h/o/r", "https://h/o/r"),
    ] {
        let url = RepoUrl::parse(written).unwrap();
        assert_eq!(url.fetch_from(Some("file:///m/")).unwrap().0, address);
        let is_option = url.fetch_from(Some("--upload-pack=x")).is_err();
        assert_eq!(is_option, address.starts_with("file:"));
    }
}

#[test]
fn revisions_follow_check_ref_format() {
    for good in ["main", "feature/x", "v1.0", "a-b", "@x"] {
        assert!(RefName::parse(good).is_ok(), "{good}");
    }
    for bad in [
        "",
        "-x",
        "--help",
        "a..b",
        "a b",
        "a~1",
        "a^",
        "a:b",
        "a?",
        "*",
        "[",
        "a\\b",
        "@",
        "a\u{202e}b",
        "a\u{200b}",
        "a@{1}",
        "/a",
        "a/",
        "a//b",
        ".a",
        "a/.b",
        "a.lock",
        "a.lock/b",
        "a.",
        "a\u{1}",
    ] {
        assert!(RefName::parse(bad).is_err(), "{bad:?}");
    }
}

#[test]
fn paths_stay_below_their_root() {
    assert_eq!(SubPath::parse("./a/b/").unwrap().as_str(), "a/b");
    assert_eq!(SubPath::parse("--help/-o").unwrap().as_str(), "--help/-o");
    for bad in [
        "", "/", ".", "..", "a/../b", "a//b", "a\\b", "a\0b", "a/./b",
    ] {
        assert!(SubPath::parse(bad).is_err(), "{bad:?}");
    }
}

#[test]
fn web_addresses_that_could_do_harm_are_refused() {
    for bad in [
        "",
        "-o",
        "http://example.org/x.zip",
        "ftp://example.org/x",
        "file:///etc/passwd",
        "https://user:pass@example.org/x",
        "https://example.org/x#y",
        "https://-h/x",
        "https:///x",
        "https://example.org/a b",
    ] {
        assert!(WebUrl::parse(bad).is_err(), "{bad}");
    }
    for good in ["https://example.org", "http://127.0.0.1:80/x?a=b"] {
        assert!(WebUrl::parse(good).is_ok(), "{good}");
    }
    for (written, one) in [
        ("https://Example.org:443/a/../b", "https://example.org/b"),
        ("https://example.org/a/%2E%2e/b", "https://example.org/b"),
        ("https://example.org/\"é", "https://example.org/%22%C3%A9"),
    ] {
        assert_eq!(WebUrl::parse(written).unwrap().as_str(), one);
    }
}

#[test]
fn what_is_below_stays_below() {
    let base = WebUrl::parse("https://Example.org/a/").unwrap();
    let path = SubPath::parse("b c/é?.md").unwrap();
    assert_eq!(
        base.join(&path).as_str(),
        "https://example.org/a/b%20c/%C3%A9%3F.md"
    );
    assert_eq!(base.root().as_str(), "https://example.org/");
}
