//! A registry on the loopback interface that needs nothing: manifests, blobs, tokens and
//! referrers, and what a hostile one does. It ends when dropped.

use std::collections::HashMap;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use crate::loopback::Loopback;

/// An answer that is given instead of the usual one.
#[derive(Clone, Default)]
pub struct Instead {
    pub status: u16,
    pub headers: Vec<(String, String)>,
    pub body: Vec<u8>,
    /// The only method that is answered so; all if empty.
    pub method: &'static str,
    /// Whether the body never ends.
    pub is_endless: bool,
}

/// What the registry has and does; may be changed while it runs.
#[derive(Default)]
pub struct Behaviour {
    /// Blobs and manifests by digest.
    pub blobs: Mutex<HashMap<String, Vec<u8>>>,
    /// Digests by `NAME/TAG`.
    pub tags: Mutex<HashMap<String, String>>,
    /// Answers by path.
    pub instead: Mutex<HashMap<String, Instead>>,
    /// `user:password` in base64 that the token service wants; an empty one is for anybody.
    pub login: Mutex<Option<String>>,
    /// Where the token service is, if not here.
    pub realm: Mutex<Option<String>>,
    /// Whether it lists referrers.
    pub has_referrers: AtomicBool,
    /// Every request: method, path, and `Authorization` if given.
    pub seen: Mutex<Vec<String>>,
}

pub struct Registry {
    loopback: Loopback,
    pub behaviour: Arc<Behaviour>,
}

impl Registry {
    pub fn new() -> Self {
        let behaviour = Arc::new(Behaviour::default());
        let shared = Arc::clone(&behaviour);
        let loopback = Loopback::new(move |stream, address| answer(stream, address, &shared));
        Self {
            loopback,
            behaviour,
        }
    }

    /// `oci://127.0.0.1:PORT/name`
    pub fn reference(&self, name: &str) -> String {
        format!("oci://{}/{name}", self.loopback.address)
    }

    /// `127.0.0.1:PORT`
    pub fn host(&self) -> String {
        self.loopback.address.to_string()
    }

    /// Keeps a blob. Returns its descriptor.
    pub fn blob(&self, media_type: &str, bytes: &[u8]) -> Value {
        let digest = format!("sha256:{:x}", Sha256::digest(bytes));
        let mut blobs = self.behaviour.blobs.lock().unwrap();
        blobs.insert(digest.clone(), bytes.to_vec());
        json!({"mediaType": media_type, "digest": digest, "size": bytes.len()})
    }

    /// Keeps a manifest. Returns its descriptor.
    pub fn manifest(&self, manifest: &Value) -> Value {
        let media_type = manifest["mediaType"].as_str().unwrap_or_default();
        self.blob(media_type, manifest.to_string().as_bytes())
    }

    /// Publishes a manifest as `NAME:TAG`. Returns its digest.
    pub fn publish(&self, name: &str, tag: &str, manifest: &Value) -> String {
        let digest = digest(&self.manifest(manifest));
        let mut tags = self.behaviour.tags.lock().unwrap();
        tags.insert(format!("{name}/{tag}"), digest.clone());
        digest
    }

    /// Answers so at a path.
    pub fn instead(&self, path: &str, status: u16, headers: &[(&str, &str)], body: &[u8]) {
        let headers = headers
            .iter()
            .map(|(key, value)| ((*key).to_owned(), (*value).to_owned()));
        let instead = Instead {
            status,
            headers: headers.collect(),
            body: body.to_vec(),
            method: "",
            is_endless: false,
        };
        let mut all = self.behaviour.instead.lock().unwrap();
        all.insert(path.to_owned(), instead);
    }

    /// The requests so far, which are then forgotten.
    pub fn take_seen(&self) -> Vec<String> {
        std::mem::take(&mut self.behaviour.seen.lock().unwrap())
    }
}

/// The digest in a descriptor.
pub fn digest(descriptor: &Value) -> String {
    descriptor["digest"].as_str().unwrap().to_owned()
}

/// What is sent back.
struct Reply {
    status: u16,
    headers: Vec<(String, String)>,
    body: Vec<u8>,
}

fn reply(status: u16, headers: &[(&str, &str)], body: impl Into<Vec<u8>>) -> Reply {
    let headers = headers
        .iter()
        .map(|(key, value)| ((*key).to_owned(), (*value).to_owned()));
    Reply {
        status,
        headers: headers.collect(),
        body: body.into(),
    }
}

fn answer(mut stream: TcpStream, own: SocketAddr, behaviour: &Behaviour) -> std::io::Result<()> {
    stream.set_read_timeout(Some(std::time::Duration::from_secs(20)))?;
    let mut reader = BufReader::new(stream.try_clone()?);
    let mut line = String::new();
    reader.read_line(&mut line)?;
    let mut words = line.split_whitespace().map(str::to_owned);
    let method = words.next().unwrap_or_default();
    let target = words.next().unwrap_or_default();
    let mut headers = HashMap::new();
    loop {
        let mut line = String::new();
        reader.read_line(&mut line)?;
        let Some((name, value)) = line.trim().split_once(':') else {
            break;
        };
        headers.insert(name.to_ascii_lowercase(), value.trim().to_owned());
    }
    let length = headers.get("content-length").and_then(|l| l.parse().ok());
    let mut body = vec![0; length.unwrap_or(0)];
    reader.read_exact(&mut body)?;
    let mut seen = format!("{method} {target}");
    if let Some(value) = headers.get("authorization") {
        seen.extend([" ", value.as_str()]);
    }
    behaviour.seen.lock().unwrap().push(seen);
    let path = target.split('?').next().unwrap_or_default().to_owned();
    let instead = behaviour.instead.lock().unwrap().get(&path).cloned();
    let instead = instead.filter(|one| one.method.is_empty() || one.method == method);
    let is_endless = instead.as_ref().is_some_and(|instead| instead.is_endless);
    let sent = match instead {
        Some(instead) => Reply {
            status: instead.status,
            headers: instead.headers,
            body: instead.body,
        },
        None => pushed(&method, &target, &headers, &body, behaviour)
            .unwrap_or_else(|| usual(&path, &headers, own, behaviour)),
    };
    let mut head = format!("HTTP/1.1 {} x\r\nConnection: close\r\n", sent.status);
    for (key, value) in &sent.headers {
        head.extend([key.as_str(), ": ", value, "\r\n"]);
    }
    if !is_endless && !sent.headers.iter().any(|(key, _)| key == "Content-Length") {
        let length = sent.body.len().to_string();
        head.extend(["Content-Length: ", &length, "\r\n"]);
    }
    write!(stream, "{head}\r\n")?;
    if method == "HEAD" {
        return Ok(());
    }
    if is_endless {
        loop {
            stream.write_all(&sent.body)?;
        }
    }
    stream.write_all(&sent.body)
}

/// What an upload is answered.
fn pushed(
    method: &str,
    target: &str,
    headers: &HashMap<String, String>,
    body: &[u8],
    behaviour: &Behaviour,
) -> Option<Reply> {
    let is_logged_in = headers.get("authorization").map(String::as_str) == Some("Bearer t0k.en");
    if behaviour.login.lock().unwrap().is_some() && !is_logged_in {
        return None;
    }
    let rest = target.strip_prefix("/v2/")?;
    let digest = format!("sha256:{:x}", Sha256::digest(body));
    if method == "POST" && rest.ends_with("/blobs/uploads/") {
        let place = format!("{target}7?state=x%3D");
        return Some(reply(202, &[("Location", &place)], ""));
    }
    if method != "PUT" {
        return None;
    }
    if let Some((_, asked)) = rest.split_once("&digest=") {
        if asked.replace("%3A", ":") != digest {
            return Some(reply(400, &[], "{}"));
        }
    } else {
        let (name, under) = rest.split_once("/manifests/")?;
        if !under.starts_with("sha256:") {
            let mut tags = behaviour.tags.lock().unwrap();
            tags.insert(format!("{name}/{under}"), digest.clone());
        }
    }
    let mut blobs = behaviour.blobs.lock().unwrap();
    blobs.insert(digest.clone(), body.to_vec());
    let mut told = vec![("Docker-Content-Digest", &*digest)];
    if behaviour.has_referrers.load(Ordering::SeqCst) {
        told.push(("OCI-Subject", "x"));
    }
    Some(reply(201, &told, ""))
}

fn usual(
    path: &str,
    headers: &HashMap<String, String>,
    own: SocketAddr,
    behaviour: &Behaviour,
) -> Reply {
    let login = behaviour.login.lock().unwrap().clone();
    let given = headers.get("authorization").map(String::as_str);
    if path == "/token" {
        let basic = login.map(|login| format!("Basic {login}"));
        return match basic {
            Some(basic) if basic != "Basic " && given != Some(&*basic) => reply(401, &[], ""),
            _ => reply(200, &[], json!({"token": "t0k.en"}).to_string()),
        };
    }
    if login.is_some() && given != Some("Bearer t0k.en") {
        let realm = behaviour.realm.lock().unwrap().clone();
        let realm = realm.unwrap_or_else(|| format!("http://{own}/token"));
        let challenge = format!("Bearer realm=\"{realm}\",service=\"stub\",scope=\"x:y:z\"");
        return reply(401, &[("WWW-Authenticate", &challenge)], "{}");
    }
    let rest = path.strip_prefix("/v2/").unwrap_or_default();
    let blob = |digest: &str| behaviour.blobs.lock().unwrap().get(digest).cloned();
    if let Some((name, at)) = rest.split_once("/manifests/") {
        let tags = behaviour.tags.lock().unwrap();
        let digest = tags.get(&format!("{name}/{at}")).cloned();
        let digest = digest.unwrap_or_else(|| at.to_owned());
        return match blob(&digest) {
            Some(bytes) => reply(200, &[("Docker-Content-Digest", &digest)], bytes),
            None => reply(404, &[], "{}"),
        };
    }
    if let Some((_, digest)) = rest.split_once("/blobs/") {
        return match blob(digest) {
            Some(bytes) => reply(200, &[], bytes),
            None => reply(404, &[], "{}"),
        };
    }
    if let Some((name, _)) = rest.split_once("/tags/list") {
        let tags = behaviour.tags.lock().unwrap();
        let own = tags
            .keys()
            .filter_map(|key| key.strip_prefix(&format!("{name}/")));
        let mut own: Vec<&str> = own.collect();
        own.sort_unstable();
        return reply(200, &[], json!({"name": name, "tags": own}).to_string());
    }
    if let Some((_, subject)) = rest.split_once("/referrers/")
        && behaviour.has_referrers.load(Ordering::SeqCst)
    {
        let blobs = behaviour.blobs.lock().unwrap();
        let listed = blobs.iter().filter_map(|(digest, bytes)| {
            let manifest: Value = serde_json::from_slice(bytes).ok()?;
            (manifest["subject"]["digest"].as_str()? == subject).then(|| {
                json!({"mediaType": manifest["mediaType"], "digest": digest,
                       "size": bytes.len(), "artifactType": manifest["artifactType"]})
            })
        });
        let index = json!({"schemaVersion": 2, "manifests": listed.collect::<Vec<_>>()});
        return reply(200, &[], index.to_string());
    }
    reply(404, &[], "{}")
}
