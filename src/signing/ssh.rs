//! The armored signatures of OpenSSH (its `PROTOCOL.sshsig`) and its certificates, as far as they say
//! who made them, for whom and how long. Whether one holds is for `ssh-keygen` to say.

use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, STANDARD_NO_PAD};
use sha2::{Digest as _, Sha256};

use super::Covers;

const BEGIN: &str = "-----BEGIN SSH SIGNATURE-----";
const END: &str = "-----END SSH SIGNATURE-----";
const MAGIC: &[u8] = b"SSHSIG";

/// The purpose that a signature was made for, which it includes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Namespace {
    /// Git's commits and tags.
    Git,
    /// Manifests of skills.
    Skill,
}

impl Namespace {
    /// That of what is signed.
    pub fn of(signed: Covers) -> Self {
        match signed {
            Covers::Commit | Covers::Tag => Self::Git,
            Covers::Manifest => Self::Skill,
        }
    }

    /// As `ssh-keygen -n` takes it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Git => "git",
            Self::Skill => "agent-skill",
        }
    }
}

/// What a signature says about itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SshSignature {
    /// The public key or certificate.
    pub key: SshKey,
    /// What it was made for.
    pub namespace: String,
}

/// A public key or certificate of OpenSSH.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SshKey {
    kind: String,
    bytes: Vec<u8>,
}

/// What a certificate says: another key vouches for this one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Certificate {
    /// The fingerprint of the key that issued it.
    pub authority: String,
    /// For whom.
    pub principals: Vec<String>,
    /// When it begins and ends to count, in seconds since 1970.
    pub valid: std::ops::Range<u64>,
}

impl SshSignature {
    /// Reads an armored signature; `None` if it is not one.
    pub fn parse(armored: &str) -> Option<Self> {
        let body = armored.trim_end().strip_prefix(BEGIN)?.strip_suffix(END)?;
        let body: String = body.split_whitespace().collect();
        let bytes = STANDARD.decode(body).ok()?;
        let rest = bytes.strip_prefix(MAGIC)?;
        let (version, mut rest) = rest.split_at_checked(4)?;
        if version != [0, 0, 0, 1] {
            return None;
        }
        let key = SshKey::new(field(&mut rest)?.to_vec())?;
        let namespace = String::from_utf8(field(&mut rest)?.to_vec()).ok()?;
        Some(Self { key, namespace })
    }
}

impl SshKey {
    /// The key with these bytes, which begin with its kind; `None` if they do not.
    fn new(bytes: Vec<u8>) -> Option<Self> {
        let kind = String::from_utf8(field(&mut &*bytes)?.to_vec()).ok()?;
        let is_word = |byte: u8| byte.is_ascii_alphanumeric() || b"-.@".contains(&byte);
        let is_kind = !kind.is_empty() && kind.bytes().all(is_word);
        is_kind.then_some(Self { kind, bytes })
    }

    /// Reads what [`SshKey::written`] wrote.
    pub fn parse(written: &str) -> Option<Self> {
        let (kind, key) = written.split_once(' ')?;
        Self::new(STANDARD.decode(key).ok()?).filter(|key| key.kind == kind)
    }

    /// As `ssh-keygen` writes it: the kind and the base64.
    pub fn written(&self) -> String {
        format!("{} {}", self.kind, STANDARD.encode(&self.bytes))
    }

    /// The fingerprint, as `ssh-keygen -l` shows that of a key.
    pub fn fingerprint(&self) -> String {
        ssh_fingerprint(&self.bytes)
    }

    /// Whether another key signed it.
    pub fn is_certificate(&self) -> bool {
        self.kind.contains("-cert-")
    }

    /// What it says if it is a certificate (OpenSSH's `PROTOCOL.certkeys`).
    pub fn certificate(&self) -> Option<Certificate> {
        let of_key = match self.kind.split_once("-cert-")?.0 {
            "ssh-ed25519" => 1,
            "sk-ecdsa-sha2-nistp256" => 3,
            "ssh-dss" => 4,
            _ => 2,
        };
        let mut rest = &*self.bytes;
        // Its kind, a nonce and the key; after serial number and type, its name and for whom it is.
        for _ in 0..2 + of_key {
            field(&mut rest)?;
        }
        // Those of hosts have another type.
        rest = rest.get(8..)?.strip_prefix(&[0, 0, 0, 1])?;
        field(&mut rest)?;
        let mut names = field(&mut rest)?;
        let names = std::iter::from_fn(|| field(&mut names));
        let principals = names.map(|name| String::from_utf8_lossy(name).into_owned());
        let principals = principals.collect();
        let (from, after) = rest.split_first_chunk()?;
        let (to, mut rest) = after.split_first_chunk()?;
        for _ in 0..3 {
            field(&mut rest)?;
        }
        Some(Certificate {
            authority: ssh_fingerprint(field(&mut rest)?),
            principals,
            valid: u64::from_be_bytes(*from)..u64::from_be_bytes(*to),
        })
    }
}

/// The fingerprint of a public key in OpenSSH's binary form, as `ssh-keygen -l` shows it.
pub fn ssh_fingerprint(key: &[u8]) -> String {
    format!("SHA256:{}", STANDARD_NO_PAD.encode(Sha256::digest(key)))
}

/// The next field: its length in 4 bytes, and its bytes.
fn field<'b>(bytes: &mut &'b [u8]) -> Option<&'b [u8]> {
    let (length, rest) = bytes.split_first_chunk()?;
    let length = u32::from_be_bytes(*length);
    let (field, rest) = rest.split_at_checked(usize::try_from(length).ok()?)?;
    *bytes = rest;
    Some(field)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn armored(bytes: &[u8]) -> String {
        format!("{BEGIN}\n{}\n{END}\n", STANDARD.encode(bytes))
    }

    #[test]
    fn the_key_and_the_purpose_are_read() {
        let whole = b"SSHSIG\0\0\0\x01\0\0\0\x07\0\0\0\x03key\0\0\0\x03git\0\0\0\0".to_vec();
        let read = SshSignature::parse(&armored(&whole)).unwrap();
        assert_eq!(
            (read.key.written().as_str(), read.namespace.as_str()),
            ("key AAAAA2tleQ==", "git")
        );
        for cut in 0..whole.len() - 4 {
            assert_eq!(SshSignature::parse(&armored(&whole[..cut])), None, "{cut}");
        }
        for more in [
            format!("x\n{}", armored(&whole)),
            format!("{}x\n", armored(&whole)),
        ] {
            assert_eq!(SshSignature::parse(&more), None, "{more}");
        }
        for other in ["", BEGIN, "-----BEGIN PGP SIGNATURE-----"] {
            assert_eq!(SshSignature::parse(other), None);
        }
    }

    #[test]
    fn a_certificate_names_its_authority_and_its_time() {
        const BYTES: &str = "AAAAIHNzaC1lZDI1NTE5LWNlcnQtdjAxQG9wZW5zc2guY29tAAAAIF34cN2ClPfEtWzCxXXS734XQv+WS6iN\
         YPxXAtMAF1ibAAAAIOA5KHwjyb8dgFb5EhjKYMhMU0FQgCQviJ8DJdF3oovyAAAAAAAAAAAAAAABAAAAAmlk\
         AAAACwAAAAdhbGljZUB4AAAAAGlVuQAAAAAAazbsgAAAAAAAAACCAAAAFXBlcm1pdC1YMTEtZm9yd2FyZGlu\
         ZwAAAAAAAAAXcGVybWl0LWFnZW50LWZvcndhcmRpbmcAAAAAAAAAFnBlcm1pdC1wb3J0LWZvcndhcmRpbmcA\
         AAAAAAAACnBlcm1pdC1wdHkAAAAAAAAADnBlcm1pdC11c2VyLXJjAAAAAAAAAAAAAAGXAAAAB3NzaC1yc2EA\
         AAADAQABAAABgQDshXerStx4Kt7ZN2fW2vS7to9TIrWkZi4fjyQNYl4k6c2ZTHizV/l+e8gekjiuqvG1MeWE\
         /Vhzc5YOUfa06R+Kxtt3dT+a+kgSJ/Uwi0nL2aNjI45CJVuggdQAxSsm+dgLhcMIzMq1IhnoRZMPVRFhKDji\
         /A4lpbErq8v7iZSQO4xPxb5X+cVt2GrDEiNPUexh/9SkmI+9e8oNQDI0MIH5+uo8u+O1lKMVcPZDWp1mFWgu\
         RmTsLopkLIzLTTCo/68yoFjFsGV2eFc89la1RPdh2LQPY2OdxtH0PSjv8FLIwhcehDAfLb4TNDxt4S0uSjk1\
         EtYiIcBh+DsRR3MnK1A89QKjwnmwL2nLU1l9B0gPZCa0DLlu4xgQFhwe+ah/Y39diF04m8znImMgGWo644DC\
         hY4YHOhaX7teJPn2aEyCulihg8IwprNrHu+Dk2nu3PQYraJf/OPeMQ25BXk4tb4qSG5g8h+2xKPOYvPSQEMZ\
         SyGf1cHhzWE/fQmNrcMcfpsAAAGUAAAADHJzYS1zaGEyLTUxMgAAAYAsY7DJfdPoo9WlHit3UP+EYCG173kx\
         bJ8oajEI6+UrxzWwKRkvFNHuMwU3nVR7zYrBt8M7yzUeNhmDHnkkumY1CQQwXC1NJYSDBgXdf6Mlj7nFZZ8G\
         ynl4sMUjPxe9c5f7NR3lv0pvbaAuRxwuEVD50QZj7hvhrhoMlIPujdybPLQKBbLbfP7exgIygBxtnYaj6Bep\
         KNx0iH6UQkavKR44qiiRwiZLfFxdfdpVq7v6tBVD7FF0jmFi2ep8w0ccMG1QL6u+iVu2mov+FHE+guOg1Dk2\
         C/0KnX/9iOhCpHMW0HCh0+nXuc1R5LnVLUelVf1YDjsHzovlQz/caChURquUNeXRQeYiTxv24pBYAOzusx/h\
         AdQJfu7u1UOUecsesHCXcbDdCFruODRaM+Ay0bMlgWr2UXm4tCcPWTelpAXegfgPOWSnbm/1B0WeqvG23INY\
         fddkasDfZQdT4QwZOdQKANul+GAgyX9Ke13cpqLDSuoz3aFoYbVUXb0UfpgXnlc=";
        let written = format!("ssh-ed25519-cert-v01@openssh.com {BYTES}");
        let key = SshKey::parse(&written).unwrap();
        assert_eq!(key.written(), written);
        let certificate = key.certificate().unwrap();
        let authority = "SHA256:+5sVlAZQdb2Tz/pxXAMEBCMN0v0vCWm2cTrAbTuXXjI";
        assert_eq!(certificate.authority, authority);
        assert_eq!(certificate.principals, ["alice@x"]);
        assert_eq!(certificate.valid, 1_767_225_600..1_798_761_600);
        let plain = SshKey::parse("ssh-rsa AAAAB3NzaC1yc2E=").unwrap();
        assert_eq!((plain.is_certificate(), plain.certificate()), (false, None));
        for none in ["", "ssh-rsa", "ssh-rsa !", "ssh-dss AAAAB3NzaC1yc2E="] {
            assert_eq!(SshKey::parse(none), None, "{none}");
        }
    }
}
