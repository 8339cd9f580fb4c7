//! Ranks of policies.

use super::*;

fn policies(files: &[(&str, bool)]) -> Policies {
    let read = |(at, (text, is_named)): (usize, &(&str, bool))| {
        let mut policy: Policy = toml::from_str(text).unwrap();
        policy.is_named = *is_named;
        policy.file = PathBuf::from(format!("/{at}.toml"));
        policy
    };
    Policies::of(files.iter().enumerate().map(read).collect())
}

#[test]
fn what_a_variable_names_only_adds() {
    let root = "[skills]\nrequire = ['must']";
    for named in [
        "[skills]\nblock = ['m*']",
        "[skills]\nallow = ['other']",
        "[skills]\nversions = {must = '9'}",
        "[skills]\nrequire = [{name = 'must', version = '9'}]",
        "[sources]\nallow = []",
        "[approval]\nrequire = ['all']",
        "[signing]\nrequire = 'listed'",
    ] {
        let both = policies(&[(root, false), (named, true)]);
        let subject = |name| RuleSubject {
            name,
            directory: name,
            version: Some("1"),
            is_administrators: true,
            is_projects: false,
        };
        let refuses = |name| {
            both.refuses_skill(subject(name)).is_some()
                || refusal(both.about_origin(name, None, None)).is_some()
                || !both.needs_approval_of(name).is_empty()
                || both.requires(name).is_some() && both.may_withhold_for_signature(name)
        };
        assert!(!refuses("must"), "{named}");
        assert_eq!(both.contradiction(), None, "{named}");
        // Alone, or about another skill, it counts.
        let alone = policies(&[(named, true)]);
        let alone = alone.refuses_skill(subject("must"));
        assert_eq!(alone.is_some(), named.starts_with("[skills]"), "{named}");
    }
}

#[test]
fn policies_of_one_rank_contradict_each_other() {
    let (requires, blocks) = ("[skills]\nrequire = ['must']", "[skills]\nblock = ['m*']");
    for named in [false, true] {
        let both = policies(&[(requires, named), (blocks, named)]);
        let why = both.contradiction().unwrap();
        assert!(why.contains("requires the skill `must`"), "{why}");
        assert!(why.contains("blocks skills named"), "{why}");
    }
    let root_blocks = policies(&[(blocks, false), (requires, true)]);
    assert_eq!(root_blocks.contradiction(), None);
}
