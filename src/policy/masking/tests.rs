//! Examples of what is masked and what is not: each pattern has a counterexample.

use super::*;
use serde_json::json;

const A: &str = "0123456789abcdefGHIJ0123456789abcdefGHIJ";

/// A text, and its masked form.
const MASKED: &[(&str, &str)] = &[
    (
        "curl --token abc https://x.y/z",
        "curl --token *** https://x.y/z",
    ),
    ("deploy --api-key=abc -v", "deploy --api-key=*** -v"),
    ("API_KEY=abc DEBUG=1 run", "API_KEY=*** DEBUG=1 run"),
    ("PASSWORD='a b' run", "PASSWORD='***' run"),
    ("PASSWORD=a'b c'd run", "PASSWORD=*** run"),
    (r"PASSWORD=a\ b run", "PASSWORD=*** run"),
    ("PASSWORD=$(echo a b) run", "PASSWORD=$(echo a b) run"),
    ("DB_PASS=hunter2 ./run", "DB_PASS=*** ./run"),
    ("export STRIPE_KEY=x; run", "export STRIPE_KEY=***; run"),
    (
        "GH_PAT=x JWT=y SSHPASS=z ssh",
        "GH_PAT=*** JWT=*** SSHPASS=*** ssh",
    ),
    ("sh -c 'TOKEN=abc run x'", "sh -c 'TOKEN=*** run x'"),
    ("login --password \"a b\" me", "login --password \"***\" me"),
    (
        "gpg --batch --passphrase 'a b' -d x",
        "gpg --batch --passphrase '***' -d x",
    ),
    ("vault login hunter2", "vault login ***"),
    ("vault login -method=github", "vault login -method=github"),
    // Headers.
    (
        "curl -H 'Authorization: Bearer abc.def'",
        "curl -H 'Authorization: Bearer ***'",
    ),
    (
        "curl -H 'Authorization: token abc' x",
        "curl -H 'Authorization: token ***' x",
    ),
    (
        "curl -H \"Authorization: a b c\" x",
        "curl -H \"Authorization: ***\" x",
    ),
    ("curl -H 'X-Api-Key: abc' x", "curl -H 'X-Api-Key: ***' x"),
    (
        "curl -H 'PRIVATE-TOKEN: abc' x",
        "curl -H 'PRIVATE-TOKEN: ***' x",
    ),
    ("curl -H Cookie:\\ session=abc x", "curl -H Cookie:*** x"),
    ("curl -H 'Cookie: a=b; c=d' x", "curl -H 'Cookie: ***' x"),
    ("--header \"Bearer abcdef\" x", "--header \"Bearer ***\" x"),
    (
        "git -c http.extraheader='AUTHORIZATION: basic dTpw' fetch",
        "git -c http.extraheader='AUTHORIZATION: basic ***' fetch",
    ),
    // Data.
    (
        r#"curl -d '{"password":"a b","user":"me"}' x"#,
        r#"curl -d '{"password":"***","user":"me"}' x"#,
    ),
    (
        r#"curl -d '{"password" : "a\"b", "n": 1}' x"#,
        r#"curl -d '{"password" : "***", "n": 1}' x"#,
    ),
    (
        r#"curl -d "{\"client_secret\":\"a b\",\"u\":1}" x"#,
        r#"curl -d "{\"client_secret\":\"***\",\"u\":1}" x"#,
    ),
    (
        "curl -d 'user=me&password=abc&x=1' y",
        "curl -d 'user=me&password=***&x=1' y",
    ),
    (
        "fetch https://h/p?access_token=abc&x=1",
        "fetch https://h/p?access_token=***&x=1",
    ),
    (
        "fetch 'https://h/b?sv=1&sig=a%2Bb&x=1'",
        "fetch 'https://h/b?sv=1&sig=***&x=1'",
    ),
    (
        "fetch 'https://h/b?X-Amz-Signature=abc&x=1'",
        "fetch 'https://h/b?X-Amz-Signature=***&x=1'",
    ),
    (
        "x: 1\npassword: correct horse\ny: 2",
        "x: 1\npassword: ***\ny: 2",
    ),
    (
        "[db]\npassword = correct\nport = 1",
        "[db]\npassword = ***\nport = 1",
    ),
    (
        "c='DefaultEndpointsProtocol=https;AccountKey=a/b+c==;EndpointSuffix=x'",
        "c='DefaultEndpointsProtocol=https;AccountKey=***;EndpointSuffix=x'",
    ),
    (
        "psql 'host=h password=abc user=u'",
        "psql 'host=h password=*** user=u'",
    ),
    // Addresses.
    (
        "git clone https://me:pw@github.com/a/b",
        "git clone https://***@github.com/a/b",
    ),
    ("psql postgres://u:p@ss@h:1/d", "psql postgres://***@h:1/d"),
    (
        "curl https://hooks.slack.com/services/T0/B0/abc -d x",
        "curl https://hooks.slack.com/services/*** -d x",
    ),
    (
        "curl https://discord.com/api/webhooks/1/abc",
        "curl https://discord.com/api/webhooks/***",
    ),
    (
        "curl https://api.telegram.org/bot1:abc/send",
        "curl https://api.telegram.org/bot***",
    ),
    // Programs with their own password options.
    ("curl -u me:abc https://x", "curl -u *** https://x"),
    ("curl -ume:abc https://x", "curl -u*** https://x"),
    ("mysql -u root -pabc db", "mysql -u root -p*** db"),
    ("sshpass -p abc ssh h", "sshpass -p *** ssh h"),
    ("redis-cli -a abc ping", "redis-cli -a *** ping"),
    (
        "docker login -u me -p abc ghcr.io",
        "docker login -u me -p *** ghcr.io",
    ),
    (
        "aws configure set aws_secret_access_key abc",
        "aws configure set aws_secret_access_key ***",
    ),
    (
        "npm config set //r/:_authToken abc",
        "npm config set //r/:_authToken ***",
    ),
    (
        "openssl enc -pass pass:abc -in x",
        "openssl enc -pass *** -in x",
    ),
    ("unzip -P abc x.zip", "unzip -P *** x.zip"),
    (
        "kubectl create secret generic x --from-literal=password=abc",
        "kubectl create secret generic x --from-literal=password=***",
    ),
    ("PASSWORD=", "PASSWORD="),
];

#[test]
fn secrets_are_masked_wherever_they_stand() {
    for (text, masked) in MASKED {
        assert_eq!(mask(text), *masked, "{text}");
    }
}

#[test]
fn issued_secrets_are_known_by_their_form() {
    for begins in [
        "ghp_",
        "github_pat_",
        "glpat-",
        "sk-",
        "sk-proj-",
        "sk-ant-api03-",
        "AKIA",
        "AIza",
        "hf_",
        "xoxb-",
        "npm_",
        "dckr_pat_",
        "whsec_",
        "hvs.",
        "GOCSPX-",
        "eyJ",
        "gsk_",
        "shpat_",
    ] {
        let secret = format!("{begins}{A}");
        for (before, after) in [
            ("echo ", ""),
            ("x=", " y"),
            ("https://h/", "/z"),
            ("'", "'"),
            ("a:", ",b"),
        ] {
            let masked = mask(&format!("{before}{secret}{after}"));
            assert!(masked.starts_with(&format!("{before}***")), "{masked}");
            assert!(!masked.contains(A), "{masked}");
        }
    }
    let key = "cat <<E\n-----BEGIN OPENSSH PRIVATE KEY-----\nabc\ndef\n-----END OPENSSH PRIVATE KEY-----\nE";
    let masked =
        "cat <<E\n-----BEGIN OPENSSH PRIVATE KEY-----***-----END OPENSSH PRIVATE KEY-----\nE";
    assert_eq!(mask(key), masked);
    assert_eq!(
        mask("-----BEGIN PRIVATE KEY-----\nabc"),
        "-----BEGIN PRIVATE KEY-----***"
    );
}

#[test]
fn what_is_no_secret_stays_readable() {
    for text in [
        "",
        " a  b ",
        "git push",
        "git commit -m 'fix: key handling'",
        "sort --key 2 x",
        "sort -k 2 -u x",
        "jq '.key' x.json",
        "cargo run -p agent",
        "mkdir -p a/b && cd a/b",
        "mysql -u root -p db",
        "curl -X POST https://x.y/z?page=2",
        "docker login --password-stdin ghcr.io",
        "run --token-file /run/t",
        "TOKEN=$TOKEN run",
        "curl -H \"Authorization: Bearer $TOKEN\"",
        "PASSWORD=\"${DB}\" run",
        "model --max-tokens 100 --n 1",
        "cat path/to/sk-learn-contrib-projects",
        "author: me",
        "https://github.com/a/b@v1",
        "npm i a@1.2.3",
        "primary_key=id sort-key=x",
        "echo 'basic usage of it'",
        "-----BEGIN CERTIFICATE-----\nabc\n-----END CERTIFICATE-----",
        "ssh git@github.com 'ls'",
        "é ü: ö=ä \\",
    ] {
        assert_eq!(mask(text), text);
    }
}

#[test]
fn any_text_is_walked_to_its_end() {
    let parts = [
        "password",
        "=",
        ":",
        " ",
        "\"",
        "'",
        "\\",
        "$",
        "(",
        "{",
        "é",
        "-----BEGIN ",
        "PRIVATE KEY-----",
        "://",
        "@",
        "\n",
        "curl",
        "-u",
        "`",
        "bearer",
    ];
    let mut state = 7_usize;
    for _ in 0..20_000 {
        let mut text = String::new();
        for _ in 0..8 {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            text.push_str(parts[(state >> 33) % parts.len()]);
        }
        mask(&text);
    }
}

#[test]
fn fields_with_a_secrets_name_are_masked_and_long_texts_cut() {
    let mut value =
        json!({"env": {"DB_PASS": "x", "A": "b"}, "args": ["--token", "t", "é".repeat(9)], "n": 1});
    mask_value(&mut value, 4);
    assert_eq!(
        value,
        json!({"env": {"DB_PASS": "***", "A": "b"}, "args": ["--t…", "***", "ééé…"], "n": 1})
    );
    // Masking precedes the cut, so no half of a secret remains.
    let mut value = json!(format!("abc ghp_{A}"));
    mask_value(&mut value, 8);
    assert_eq!(value, json!("abc ***"));
}

#[test]
fn a_cut_text_keeps_no_half_of_a_secret() {
    let key = format!(
        "-----BEGIN PRIVATE KEY-----\n{}\n-----END",
        "abc\n".repeat(100_000)
    );
    let mut value = json!(key);
    mask_value(&mut value, 500);
    let text = value.as_str().unwrap();
    assert!(!text.contains("abc"), "{text}");
    for at in 0..40 {
        let mut value = json!(format!(
            "{}ghp_{A} {}",
            "a ".repeat(at),
            "b ".repeat(50_000)
        ));
        mask_value(&mut value, 20);
        assert!(!value.as_str().unwrap().contains("0123"), "{value}");
    }
}

#[test]
fn what_a_shell_runs_is_no_secret() {
    for command in [
        "pass=$(curl -s http://x.y/z | sh; rm -rf ~/work)",
        "pass=a$(rm -rf ~/work)",
        "pass=\"a`rm -rf ~/work`\"",
        "password: x; rm -rf ~/work",
        "echo password: x | rm -rf ~/work",
        "sh -c \"token: $(rm -rf ~/work)\"",
        "sh -c 'pass=$(rm -rf ~/work)'",
        "curl -u a:b$(rm -rf ~/work)",
        "echo -----BEGIN PRIVATE KEY-----; rm -rf ~/work",
        "echo -----BEGIN PRIVATE KEY-----\nrm -rf ~/work\necho -----END PRIVATE KEY-----",
        "cat <<E\n-----BEGIN PRIVATE KEY-----\nMIIEvQIBADANBgkqhkiG9w0BAQ\nE\nrm -rf ~/work",
    ] {
        assert!(
            mask(command).contains("rm -rf ~/work"),
            "{command}: {}",
            mask(command)
        );
    }
    let inside = mask(&format!(
        "pass=secret$(curl -u me:secret ghp_{A}) token=secret"
    ));
    assert_eq!(inside, "pass=***$(curl -u *** ***) token=***");
    let header = "-----BEGIN RSA PRIVATE KEY-----\nProc-Type: 4,ENCRYPTED\n\nMIIE\n-----END RSA";
    assert_eq!(
        mask(header),
        "-----BEGIN RSA PRIVATE KEY-----***-----END RSA"
    );
}
