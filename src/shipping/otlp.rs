//! Sends events as OpenTelemetry's logs (OTLP/HTTP, JSON) with the user's own `curl`.

use std::io::Read;

use serde_json::{Map, Value, json};

use super::untaken::{Untaken, untaken};
use crate::error::Error;
use crate::marketplace::Tool;
use crate::policy::{Destination, is_warning};
use crate::skill::brief;
use crate::sys::{Moment, process};

/// Seconds for one request.
const SECONDS: u32 = 60;
/// The longest answer that is read.
const ANSWER: u64 = 64 * 1024;
/// Marks the line on standard error that has the status.
const MARK: &str = "agent-skills-status ";

/// The names that conventions have, or are getting, for fields of ours
/// (open-telemetry/semantic-conventions-genai#501). All others begin with `agent_skills.`.
const NAMES: [(&str, &str); 9] = [
    ("skill", "gen_ai.skill.name"),
    ("tool", "gen_ai.tool.name"),
    ("session", "gen_ai.conversation.id"),
    ("host", "gen_ai.agent.name"),
    ("host_version", "gen_ai.agent.version"),
    ("model", "gen_ai.request.model"),
    ("machine", "host.name"),
    ("user", "user.name"),
    ("uid", "user.id"),
];

/// Sends events. Returns how many of them the collector rejected, and why: they must not be sent again.
pub fn post(tool: &Tool, to: &Destination, events: &[Value]) -> Result<(u64, String), Untaken> {
    let collector = &to.collector;
    let url = collector.as_str().trim_start_matches("otlp+");
    let proto = if url.starts_with("https:") {
        "=https"
    } else {
        "=http"
    };
    let mut command = tool.command("curl");
    // First, so that a user's `.curlrc` does not steer what a policy wants sent.
    let options = format!(
        "--disable --silent --show-error --globoff --no-location --no-progress-meter --proto {proto} \
         --connect-timeout 20 --max-time {SECONDS} --max-filesize {ANSWER} --data-binary @-"
    );
    command.args(options.split(' '));
    command.args([
        "--header",
        "Content-Type: application/json",
        "--header",
        "Expect:",
    ]);
    if let Some(headers) = &to.headers {
        // Read by curl itself: what is in arguments, every user of the machine sees.
        command
            .arg("--header")
            .arg(format!("@{}", headers.display()));
    }
    if let Some(ca) = &to.ca {
        command.arg("--cacert").arg(ca);
    }
    let report = format!("%{{stderr}}{MARK}%{{http_code}}\\n");
    command.args(["--write-out", &report, "--url", url]);
    let could_not = |why: Error| why.context(format!("could not send to {collector}"));
    let body = logs(events, Moment::now()).to_string();
    let ran = tool.run(command, body, ANSWER);
    let mut ran = ran.map_err(|failure| untaken(failure, could_not))?;
    let status = ran.errors.lines().find_map(|line| line.strip_prefix(MARK));
    if !ran.status.success() {
        let failure = tool.curl_failure(&ran);
        let error = could_not(failure.into());
        // Before the request there was neither a connection nor a certificate that holds.
        let is_before = matches!(ran.status.code(), Some(5..=7 | 26 | 35 | 60 | 77));
        let untaken = if is_before {
            Untaken::Unsent
        } else {
            Untaken::Unknown
        };
        return Err(untaken(error));
    }
    let mut answer = Vec::new();
    let _ = (&mut ran.output).take(ANSWER).read_to_end(&mut answer);
    let answer: Option<Value> = match answer.trim_ascii() {
        b"" => Some(json!({})),
        told => serde_json::from_slice(told).ok().filter(Value::is_object),
    };
    let is_told = answer.is_some();
    let answer = answer.unwrap_or_default();
    let refused = |status: &str| {
        let said = answer["message"].as_str().unwrap_or_default();
        let text = format!("it answers with status {status} {}", brief(said, 200));
        could_not(Error::new(text.trim_end()))
    };
    match status.unwrap_or_default() {
        "200" if is_told => {
            let (count, why) = rejected(&answer);
            Ok((count.min(events.len() as u64), why))
        }
        "200" => {
            let hint = "check the address and the proxy; the events are kept";
            let text = "what answers with status 200 there is no collector";
            Err(Untaken::Unknown(could_not(Error::new(text)).or_hint(hint)))
        }
        status @ ("400" | "413" | "422") => Err(Untaken::Unfit(refused(status))),
        status @ ("401" | "403") => {
            let hint = "put its key into the file that `audit.headers` names; the events are kept";
            Err(Untaken::Unsent(refused(status).or_hint(hint)))
        }
        status => {
            let hint = "check the address and the collector; the events are kept";
            Err(Untaken::Unknown(refused(status).or_hint(hint)))
        }
    }
}

/// What an answer says of records that were rejected. Numbers of 64 bits are texts in this form.
fn rejected(answer: &Value) -> (u64, String) {
    let told = &answer["partialSuccess"];
    let count = &told["rejectedLogRecords"];
    let count = count.as_u64().or_else(|| count.as_str()?.parse().ok());
    let why = told["errorMessage"].as_str().unwrap_or_default();
    (count.unwrap_or(0), brief(why, 200))
}

/// The body of a request.
fn logs(events: &[Value], now: Moment) -> Value {
    let version = env!("CARGO_PKG_VERSION");
    let service = [
        ("service.name", "agent-skills".to_owned()),
        ("service.version", version.to_owned()),
        ("host.name", process::machine()),
    ];
    let service = service.map(|(key, value)| json!({"key": key, "value": {"stringValue": value}}));
    let records: Vec<Value> = events.iter().map(|event| record(event, now)).collect();
    json!({"resourceLogs": [{
        "resource": {"attributes": service},
        "scopeLogs": [{
            "scope": {"name": "agent-skills", "version": version},
            "logRecords": records,
        }],
    }]})
}

fn record(event: &Value, now: Moment) -> Value {
    let text = |key: &str| event[key].as_str().unwrap_or_default();
    let nanoseconds = |at: Moment| format!("{}000000", at.0);
    let (number, severity) = if is_warning(event) {
        (13, "WARN")
    } else {
        (9, "INFO")
    };
    let body = [text("event"), text("skill"), text("tool"), text("decision")];
    let body: Vec<&str> = body.into_iter().filter(|part| !part.is_empty()).collect();
    let fields = event.as_object().into_iter().flatten();
    let fields = fields.filter(|(key, _)| !matches!(key.as_str(), "time" | "event"));
    json!({
        "timeUnixNano": nanoseconds(Moment::parse(text("time"), now).unwrap_or(now)),
        "observedTimeUnixNano": nanoseconds(now),
        "severityNumber": number,
        "severityText": severity,
        "eventName": format!("agent_skills.{}", text("event")),
        "body": {"stringValue": body.join(" ")},
        "attributes": fields.map(attribute).collect::<Vec<_>>(),
    })
}

fn attribute((key, value): (&String, &Value)) -> Value {
    let known = NAMES.iter().find(|(own, _)| own == key);
    let name = known.map_or_else(
        || format!("agent_skills.{key}"),
        |(_, name)| (*name).to_owned(),
    );
    json!({"key": name, "value": any(value)})
}

/// A value in the form of the protocol.
fn any(value: &Value) -> Value {
    match value {
        Value::Null => json!({}),
        Value::Bool(flag) => json!({"boolValue": flag}),
        Value::Number(number) if number.is_f64() => json!({"doubleValue": number}),
        Value::Number(number) => json!({"intValue": number.to_string()}),
        Value::String(text) => json!({"stringValue": text}),
        Value::Array(items) => {
            json!({"arrayValue": {"values": items.iter().map(any).collect::<Vec<_>>()}})
        }
        Value::Object(fields) => json!({"kvlistValue": {"values": pairs(fields)}}),
    }
}

fn pairs(fields: &Map<String, Value>) -> Vec<Value> {
    let pair = |(key, value): (&String, &Value)| json!({"key": key, "value": any(value)});
    fields.iter().map(pair).collect()
}
