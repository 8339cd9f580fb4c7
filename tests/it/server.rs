//! A small web server on the loopback interface: files, and git repositories through
//! `git http-backend`. It can ask for a password and break off in the middle, and below `/429` it answers
//! with that status. It ends when dropped.

use std::collections::HashMap;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use crate::loopback::Loopback;

/// What the server is like; may be changed while it runs.
#[derive(Default)]
pub struct Behaviour {
    /// Files by path.
    pub files: Mutex<HashMap<String, Vec<u8>>>,
    /// Redirects by path.
    pub redirects: Mutex<HashMap<String, String>>,
    /// `user:password` in base64, if it asks for one.
    pub password: Mutex<Option<String>>,
    /// How many answers to `fetch` go out whole before.
    pub whole: AtomicUsize,
    /// How many times `fetch` was asked for.
    pub fetches: AtomicUsize,
    /// How many answers to `fetch` it has still to break off.
    pub cuts: AtomicUsize,
    /// Every request: method and path.
    pub seen: Mutex<Vec<String>>,
    /// How many bytes git's answers had.
    pub sent: AtomicUsize,
}

pub struct Server {
    loopback: Loopback,
    pub behaviour: Arc<Behaviour>,
}

impl Server {
    /// Serves the repositories below `root`.
    pub fn new(root: &Path) -> Self {
        let behaviour = Arc::new(Behaviour::default());
        let (shared, root) = (Arc::clone(&behaviour), root.to_owned());
        let loopback = Loopback::new(move |stream, _| answer(stream, &root, &shared));
        Self {
            loopback,
            behaviour,
        }
    }

    /// `127.0.0.1:PORT`
    pub fn address(&self) -> String {
        self.loopback.address.to_string()
    }

    /// `http://127.0.0.1:PORT/path`
    pub fn url(&self, path: &str) -> String {
        format!("http://{}/{path}", self.address())
    }

    pub fn file(&self, path: &str, content: impl AsRef<[u8]>) -> &Self {
        let mut files = self.behaviour.files.lock().unwrap();
        files.insert(format!("/{path}"), content.as_ref().to_vec());
        self
    }

    /// The requests so far, which are then forgotten.
    pub fn take_seen(&self) -> Vec<String> {
        std::mem::take(&mut self.behaviour.seen.lock().unwrap())
    }
}

fn answer(stream: TcpStream, root: &Path, behaviour: &Behaviour) -> std::io::Result<()> {
    stream.set_read_timeout(Some(std::time::Duration::from_secs(20)))?;
    let mut reader = BufReader::new(stream.try_clone()?);
    let mut line = String::new();
    reader.read_line(&mut line)?;
    let mut words = line.split_whitespace();
    let method = words.next().unwrap_or_default().to_owned();
    let target = words.next().unwrap_or_default().to_owned();
    let mut headers = HashMap::new();
    loop {
        let mut line = String::new();
        reader.read_line(&mut line)?;
        let Some((name, value)) = line.trim().split_once(':') else {
            break;
        };
        headers.insert(name.to_ascii_lowercase(), value.trim().to_owned());
    }
    let length = headers
        .get("content-length")
        .and_then(|l| l.parse().ok())
        .unwrap_or(0);
    let mut body = vec![0; length];
    reader.read_exact(&mut body)?;
    let request = Request {
        method,
        target,
        headers,
        body,
    };
    reply(stream, &request, root, behaviour)
}

struct Request {
    method: String,
    target: String,
    headers: HashMap<String, String>,
    body: Vec<u8>,
}

fn reply(
    mut stream: TcpStream,
    request: &Request,
    root: &Path,
    behaviour: &Behaviour,
) -> std::io::Result<()> {
    let Request {
        method,
        target,
        headers,
        body,
    } = request;
    let (path, _query) = target.split_once('?').unwrap_or((target, ""));
    behaviour
        .seen
        .lock()
        .unwrap()
        .push(format!("{method} {path}"));
    if let Some(password) = &*behaviour.password.lock().unwrap()
        && headers.get("authorization") != Some(&format!("Basic {password}"))
    {
        let head = "HTTP/1.1 401 Unauthorized\r\nWWW-Authenticate: Basic realm=\"test\"\r\n";
        return write!(
            stream,
            "{head}Content-Length: 0\r\nConnection: close\r\n\r\n"
        );
    }
    let first = path.split('/').nth(1).unwrap_or_default();
    if first.parse::<u16>().is_ok_and(|status| status >= 400) {
        return write!(
            stream,
            "HTTP/1.1 {first} No\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"
        );
    }
    if let Some(to) = behaviour.redirects.lock().unwrap().get(path) {
        let head = format!("HTTP/1.1 302 Found\r\nLocation: {to}\r\n");
        return write!(
            stream,
            "{head}Content-Length: 0\r\nConnection: close\r\n\r\n"
        );
    }
    let file = behaviour.files.lock().unwrap().get(path).cloned();
    if let Some(content) = file {
        write!(
            stream,
            "HTTP/1.1 200 OK\r\nContent-Length: {}\r\nConnection: close\r\n\r\n",
            content.len()
        )?;
        return stream.write_all(&content);
    }
    let is_git = ["/info/refs", "/git-upload-pack"]
        .iter()
        .any(|end| path.ends_with(end));
    if !is_git {
        return write!(
            stream,
            "HTTP/1.1 404 Not Found\r\nContent-Length: 9\r\nConnection: close\r\n\r\nnot found"
        );
    }
    let output = git(root, request)?;
    let split = output
        .windows(4)
        .position(|w| w == b"\r\n\r\n")
        .unwrap_or(0);
    let head = String::from_utf8_lossy(&output[..split]).into_owned();
    let content = &output[split + 4..];
    let status = head
        .lines()
        .find_map(|line| line.strip_prefix("Status: "))
        .unwrap_or("200 OK");
    let is_fetch =
        body.windows(13).any(|w| w == b"command=fetch") || headers.contains_key("content-encoding");
    let take = |count: &AtomicUsize| {
        let less = |left: usize| left.checked_sub(1);
        count
            .fetch_update(Ordering::SeqCst, Ordering::SeqCst, less)
            .is_ok()
    };
    behaviour
        .fetches
        .fetch_add(usize::from(is_fetch), Ordering::SeqCst);
    let cut = is_fetch && !take(&behaviour.whole) && take(&behaviour.cuts);
    let kept = if cut {
        &content[..content.len() / 2]
    } else {
        content
    };
    behaviour.sent.fetch_add(kept.len(), Ordering::SeqCst);
    let lines = head.lines().filter(|line| !line.starts_with("Status"));
    let head: String = lines.flat_map(|line| [line, "\r\n"]).collect();
    write!(
        stream,
        "HTTP/1.1 {status}\r\n{head}Content-Length: {}\r\nConnection: close\r\n\r\n",
        content.len()
    )?;
    stream.write_all(kept)
}

fn git(root: &Path, request: &Request) -> std::io::Result<Vec<u8>> {
    let root: PathBuf = root.canonicalize()?;
    let header = |name: &str| request.headers.get(name).cloned().unwrap_or_default();
    let (path, query) = request
        .target
        .split_once('?')
        .unwrap_or((&request.target, ""));
    // Repositories lie there with a working copy, without `.git` in their names.
    let path = path.replacen(".git/", "/", 1);
    let mut child = Command::new("git")
        .arg("http-backend")
        .env("GIT_PROJECT_ROOT", root)
        .env("GIT_HTTP_EXPORT_ALL", "1")
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .env("REQUEST_METHOD", &request.method)
        .env("PATH_INFO", path)
        .env("QUERY_STRING", query)
        .env("CONTENT_TYPE", header("content-type"))
        .env("CONTENT_LENGTH", request.body.len().to_string())
        .env("HTTP_CONTENT_ENCODING", header("content-encoding"))
        .env("GIT_PROTOCOL", header("git-protocol"))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()?;
    let mut input = child.stdin.take().unwrap();
    let body = request.body.clone();
    let feeder = std::thread::spawn(move || input.write_all(&body));
    let output = child.wait_with_output()?;
    let _ = feeder.join();
    Ok(output.stdout)
}
