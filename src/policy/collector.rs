//! The addresses of collectors, to which `audit ship` sends events. Sends nothing itself.

use std::fmt;
use std::net::IpAddr;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};
use url::Url;

use crate::error::{Error, Result};

/// Where events are sent.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Collector {
    address: String,
    /// How they are sent.
    pub way: Way,
    /// The host; an address of IP version 6 is in brackets.
    pub host: String,
    /// The port.
    pub port: u16,
}

/// A collector, and what is needed to send to it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Destination {
    /// The collector.
    pub collector: Collector,
    /// A file of headers for requests.
    pub headers: Option<PathBuf>,
    /// The certificates by which it is verified, in place of the system's.
    pub ca: Option<PathBuf>,
}

/// How events are sent to a collector.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Way {
    /// Syslog in datagrams (RFC 5426): nothing tells what arrived.
    Udp,
    /// Syslog over TCP (RFC 6587, octets counted).
    Tcp,
    /// The same over TLS (RFC 5425).
    Tls,
    /// OpenTelemetry's logs over HTTP, as JSON.
    Otlp,
}

impl Way {
    /// Whether an answer says that events arrived. That syslog's connection ends well says only that
    /// they were sent.
    pub fn confirms(self) -> bool {
        self == Self::Otlp
    }
}

impl Collector {
    /// Parses an address as it is written in a configuration.
    ///
    /// # Errors
    /// When it is none of the documented forms, has credentials, or would send unencrypted HTTP to
    /// another machine.
    pub fn parse(address: &str) -> Result<Self> {
        let refused = |why: &str| {
            Error::new(format!("the address `{}` {why}", address.escape_debug())).hint(
                "write syslog+udp://HOST:PORT, syslog+tcp://HOST:PORT, syslog+tls://HOST:PORT or \
                 otlp+https://HOST/v1/logs",
            )
        };
        let url = Url::parse(address).map_err(|_| refused("is none of a collector"))?;
        let (way, port) = match url.scheme() {
            "syslog+udp" => (Way::Udp, 514),
            "syslog+tcp" => (Way::Tcp, 514),
            "syslog+tls" => (Way::Tls, 6514),
            "otlp+https" => (Way::Otlp, 443),
            "otlp+http" => (Way::Otlp, 80),
            _ => return Err(refused("is none of a collector")),
        };
        let host = url.host_str().unwrap_or_default();
        let is_plain = |c: char| c.is_ascii_alphanumeric() || "-._:[]".contains(c);
        if host.is_empty() || host.starts_with('-') || !host.chars().all(is_plain) {
            return Err(refused("has no host that can be used"));
        }
        if !url.username().is_empty() || url.password().is_some() || url.query().is_some() {
            return Err(refused(
                "contains credentials or a query: put secrets into the file `headers`",
            ));
        }
        let has_path = !matches!(url.path(), "" | "/");
        if url.fragment().is_some() || has_path != (way == Way::Otlp) {
            return Err(refused("has the wrong path"));
        }
        if url.scheme() == "otlp+http" && !is_loopback(host) {
            return Err(refused("is not encrypted: use otlp+https"));
        }
        Ok(Self {
            way,
            host: host.to_owned(),
            port: url.port().unwrap_or(port),
            address: url.to_string(),
        })
    }

    /// The address as text.
    pub fn as_str(&self) -> &str {
        &self.address
    }
}

fn is_loopback(host: &str) -> bool {
    let ip = host.trim_matches(['[', ']']).parse::<IpAddr>();
    host == "localhost" || ip.is_ok_and(|ip| ip.is_loopback())
}

impl TryFrom<String> for Collector {
    type Error = Error;

    fn try_from(address: String) -> Result<Self> {
        // A configuration shows the message alone.
        Self::parse(&address).map_err(|error| Error::new(error.with_next_step()))
    }
}

impl From<Collector> for String {
    fn from(collector: Collector) -> Self {
        collector.address
    }
}

impl fmt::Display for Collector {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.address)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_of_collectors_are_read() {
        for (address, way, host, port) in [
            (
                "syslog+udp://log.acme.example",
                Way::Udp,
                "log.acme.example",
                514,
            ),
            ("syslog+tcp://127.0.0.1:5140/", Way::Tcp, "127.0.0.1", 5140),
            ("syslog+tls://[::1]", Way::Tls, "[::1]", 6514),
            (
                "otlp+https://c.example/v1/logs",
                Way::Otlp,
                "c.example",
                443,
            ),
            (
                "otlp+http://localhost:4318/v1/logs",
                Way::Otlp,
                "localhost",
                4318,
            ),
        ] {
            let read = Collector::parse(address).unwrap();
            assert_eq!((read.way, &*read.host, read.port), (way, host, port));
        }
    }

    #[test]
    fn what_is_no_address_of_a_collector_is_refused() {
        for address in [
            "",
            "Read",
            "log.acme.example:514",
            "https://c.example/v1/logs",
            "syslog+udp:///x",
            "syslog+tls://-x",
            "syslog+tcp://h/path",
            "otlp+https://c.example",
            "otlp+https://user:x@c.example/v1/logs",
            "otlp+https://c.example/v1/logs?key=x",
            "otlp+http://c.example/v1/logs",
            "otlp+http://127.0.0.1.example/v1/logs",
        ] {
            assert!(Collector::parse(address).is_err(), "{address}");
        }
    }
}
