//! Sends events as syslog: in datagrams, over TCP, and over TLS through the user's own `openssl`, which
//! verifies the collector's certificate.

use std::io::{self, Read, Write};
use std::net::{Shutdown, SocketAddr, TcpStream, ToSocketAddrs, UdpSocket};
use std::time::Duration;

use serde_json::Value;

use super::untaken::{Untaken, untaken};
use crate::error::Error;
use crate::marketplace::Tool;
use crate::policy::{Collector, Destination, rfc5424};
use crate::skill::brief;

/// Waiting for a collector, each time: to accept a connection, to read, to close.
const PATIENCE: Duration = Duration::from_secs(10);
/// The longest text that a datagram has room for.
const DATAGRAM: usize = 60_000;
/// The longest answer that is read from a collector, which should have none.
const ANSWER: u64 = 64 * 1024;

/// Sends each event in a datagram. What arrives is not known.
pub fn datagrams(to: &Collector, events: &[Value]) -> Result<(), Untaken> {
    let failed = |error: io::Error| Untaken::Unsent(could_not(to, &error));
    let address = addresses(to).map_err(failed)?;
    let address = address
        .first()
        .ok_or_else(|| failed(io::ErrorKind::NotFound.into()))?;
    let local = if address.is_ipv6() {
        "[::]:0"
    } else {
        "0.0.0.0:0"
    };
    let socket = UdpSocket::bind(local).map_err(failed)?;
    socket.connect(address).map_err(failed)?;
    for event in events {
        let mut message = message(event);
        if message.len() > DATAGRAM {
            // What is repeated as structured data comes first and stays whole.
            let text = String::from_utf8_lossy(&message);
            message = text[..text.floor_char_boundary(DATAGRAM)].into();
        }
        let sent = socket.send(&message);
        sent.map_err(|error| Untaken::Unknown(could_not(to, &error)))?;
    }
    Ok(())
}

/// Sends events over TCP, and waits until the collector closes, too. That it has read them no message
/// of its own says (RFC 6587).
pub fn stream(to: &Collector, events: &[Value]) -> Result<(), Untaken> {
    let unsent = |error: io::Error| Untaken::Unsent(could_not(to, &error));
    let mut last = io::ErrorKind::NotFound.into();
    let mut connected = None;
    for address in addresses(to).map_err(unsent)? {
        match TcpStream::connect_timeout(&address, PATIENCE) {
            Ok(stream) => {
                connected = Some(stream);
                break;
            }
            Err(error) => last = error,
        }
    }
    let Some(mut stream) = connected else {
        return Err(unsent(last));
    };
    let sent = (|| {
        stream.set_read_timeout(Some(PATIENCE))?;
        stream.set_write_timeout(Some(PATIENCE))?;
        stream.write_all(&frames(events))?;
        stream.shutdown(Shutdown::Write)?;
        let mut answer = Vec::new();
        (&mut stream).take(ANSWER).read_to_end(&mut answer)
    })();
    let unknown = |error: io::Error| {
        let error = match error.kind() {
            io::ErrorKind::WouldBlock => io::ErrorKind::TimedOut.into(),
            _ => error,
        };
        Untaken::Unknown(could_not(to, &error))
    };
    sent.map(|_| ()).map_err(unknown)
}

/// Sends events over TLS. `openssl` ends when it has written them: what was read is not known.
pub fn encrypted(tool: &Tool, to: &Destination, events: &[Value]) -> Result<(), Untaken> {
    let Destination { collector, ca, .. } = to;
    let (host, port) = (bare(&collector.host), collector.port);
    let mut command = tool.command("openssl");
    // Without `-nocommands`, a block of input that begins with certain letters is a command.
    let options = "s_client -quiet -nocommands -no_ign_eof -verify_return_error";
    command.args(options.split(' '));
    let is_address = host.parse::<std::net::IpAddr>().is_ok();
    let name = if is_address {
        "-verify_ip"
    } else {
        "-verify_hostname"
    };
    command.args([
        name,
        host,
        "-connect",
        &format!("{}:{port}", collector.host),
    ]);
    if !is_address {
        command.args(["-servername", host]);
    }
    if let Some(ca) = ca {
        command.arg("-CAfile").arg(ca);
    }
    let could_not = |why: Error| why.context(format!("could not send to {collector}"));
    let ran = tool.run(command, frames(events), ANSWER);
    let ran = ran.map_err(|failure| untaken(failure, could_not))?;
    if ran.status.success() {
        return Ok(());
    }
    let lines = || ran.errors.lines().map(str::trim);
    let refused = lines().find(|line| line.starts_with("verify error:"));
    let unreachable = lines().find(|line| line.starts_with("connect:"));
    let said = lines()
        .rfind(|line| !line.is_empty())
        .unwrap_or("it did not say why");
    let why = |text: String, hint: &str| could_not(Error::new(text)).or_hint(hint);
    Err(if let Some(verify) = refused {
        let text = brief(verify.trim_start_matches("verify error:"), 200);
        let hint =
            "set `audit.ca` to the certificates of the authority that signed the collector's";
        Untaken::Unsent(why(format!("its certificate does not hold ({text})"), hint))
    } else if unreachable.is_some() {
        Untaken::Unsent(why("no connection".to_owned(), CHECK))
    } else {
        Untaken::Unknown(why(format!("openssl: {}", brief(said, 200)), CHECK))
    })
}

const CHECK: &str = "check that the collector runs and can be reached; the events are kept";

/// The events in one stream, each after its number of bytes.
fn frames(events: &[Value]) -> Vec<u8> {
    let mut frames = Vec::new();
    for event in events {
        let message = message(event);
        frames.extend(format!("{} ", message.len()).into_bytes());
        frames.extend(message);
    }
    frames
}

fn message(event: &Value) -> Vec<u8> {
    rfc5424(event, &event.to_string())
}

fn addresses(to: &Collector) -> io::Result<Vec<SocketAddr>> {
    let found = (bare(&to.host), to.port).to_socket_addrs()?;
    Ok(found.collect())
}

/// The host without the brackets of an address.
fn bare(host: &str) -> &str {
    host.trim_matches(['[', ']'])
}

fn could_not(to: &Collector, error: &io::Error) -> Error {
    Error::new(format!("could not send to {to}: {error}")).hint(CHECK)
}
