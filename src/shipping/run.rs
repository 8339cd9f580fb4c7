//! One run of `audit ship`: each collector gets what it has not taken, in order, in batches, and what
//! it has taken is recorded after each.

use std::path::Path;
use std::time::{Duration, Instant};

use serde::Serialize;
use serde_json::Value;

use super::untaken::Untaken;
use super::{otlp, syslog};
use crate::error::{Error, Result};
use crate::marketplace::Tool;
use crate::policy::{BATCH_EVENTS, Batch, Destination, Event, Mark, Shipped, Spool, Way};
use crate::run_context::RunContext;
use crate::sys::{Dir, EntryName};

const LOCK: EntryName = EntryName::from_static("audit-ship.lock");
/// One batch, including the time that a collector takes for it.
const BATCH: Duration = Duration::from_secs(90);

/// A collector that refuses so many events one by one, and takes none, refuses everything.
const REFUSED: u64 = 20;

/// Said when nothing is known of a collector.
const FRESH: &str = "it has no record of what it took: it begins at the start of the log, which may \
                     have been sent before";
/// Said when what is known of a collector does not fit the log.
const CHANGED: &str = "the log, or the record of what was sent of it, was truncated or changed";

/// What one collector got.
#[derive(Debug, Default, Serialize)]
pub struct Shipment {
    /// The collector.
    pub to: String,
    /// Events that were sent.
    pub sent: u64,
    /// Whether it is known that they arrived ([`Way::confirms`]).
    pub confirmed: bool,
    /// How many of these it had perhaps got before. They are marked `again`.
    pub again: u64,
    /// Events of which it will never hear: dropped from a full log, or rejected by it.
    pub lost: u64,
    /// Events that are kept for the next run.
    pub waiting: u64,
    /// What else is to be known of this run.
    pub notes: Vec<String>,
    /// Why they are kept.
    pub error: Option<String>,
    /// What to do about it.
    pub hint: Option<String>,
}

/// Sends to each collector of policies and configuration what it has not taken; in a dry run, only
/// counts it.
///
/// # Errors
/// When there is none, another run is at work, or the log cannot be read. What a collector does not
/// take is no error here.
pub fn ship(ctx: &RunContext, dry_run: bool) -> Result<Vec<Shipment>> {
    let destinations = ctx.destinations()?;
    if destinations.is_empty() {
        return Err(Error::new("no collector is configured").hint(
            "`agent-skills config set audit.ship ADDRESS`, or `[audit] ship = [\"ADDRESS\"]` in \
             the policy, such as `syslog+tls://HOST:6514`",
        ));
    }
    let file = ctx.audit_file();
    let place = file.parent().unwrap_or(Path::new("."));
    let dir = Dir::make_anchor(place).map_err(|error| Error::io("open", place, &error))?;
    let _alone = dir.lock(&LOCK, Duration::ZERO)?;
    let spool = Spool::open(&file)?;
    let one = |to| {
        let shipping = Shipping {
            ctx,
            dir: &dir,
            spool: &spool,
            to,
        };
        shipping.run(dry_run)
    };
    destinations.iter().map(one).collect()
}

/// Events that a collector does not take.
struct Refused {
    count: u64,
    /// Whether one is more than [`tells_of_others`]: else an event about it would never end.
    is_news: bool,
    why: Error,
}

struct Shipping<'a> {
    ctx: &'a RunContext,
    dir: &'a Dir,
    spool: &'a Spool,
    to: &'a Destination,
}

impl Shipping<'_> {
    fn run(&self, dry_run: bool) -> Result<Shipment> {
        let to = self.to.collector.as_str();
        let unread = |error| {
            let file = self.dir.path().join(Shipped::file(to));
            Error::io("read", &file, &error)
                .hint("remove it; all events that are kept are then sent again")
        };
        let mut shipped = Shipped::read(self.dir, to).map_err(unread)?;
        let mut done = Shipment {
            to: to.to_owned(),
            confirmed: self.to.collector.way.confirms(),
            ..Shipment::default()
        };
        let is_unknown = shipped.is_fresh() && self.spool.waiting(&[]) > 0;
        if is_unknown {
            done.notes.push(FRESH.to_owned());
        }
        let unread = |error| Error::io("read", &self.ctx.audit_file(), &error);
        if self.spool.resume(&mut shipped).map_err(unread)? {
            done.notes
                .push(format!("{CHANGED}; it is sent again from its start"));
            if !dry_run {
                let event = Event::new("lost").with("collector", to);
                self.ctx.record(event.with("by", CHANGED));
            }
        }
        if !dry_run && let Err(why) = self.send_all(&mut shipped, &mut done)? {
            done.error = Some(why.to_string());
            done.hint = why.next_step().map(str::to_owned);
        }
        done.waiting = self.spool.waiting(&shipped.taken);
        Ok(done)
    }

    /// Sends until everything is taken; the inner error is why it is not.
    fn send_all(&self, shipped: &mut Shipped, done: &mut Shipment) -> Result<Result<()>> {
        let mut most = BATCH_EVENTS;
        // What the collector refused since it last took something, and up to where it took all.
        let (mut refused, mut known): (Option<Refused>, _) = (None, shipped.taken.clone());
        let why = loop {
            let batch = self.spool.next(shipped, most);
            let batch = batch.map_err(|e| Error::io("read", &self.ctx.audit_file(), &e))?;
            if batch.events.is_empty() {
                match refused.take() {
                    Some(refused) if done.sent == 0 => {
                        shipped.taken = known;
                        break refused.why;
                    }
                    refused => self.settle(done, refused),
                }
                if batch.after != known || !shipped.sending.is_empty() {
                    self.keep(shipped, batch.after)?;
                }
                return Ok(Ok(()));
            }
            let before = std::mem::replace(&mut shipped.sending, batch.after.clone());
            self.write(shipped)?;
            let sent = self.send(&batch.events);
            let is_news = !batch.events.iter().all(tells_of_others);
            if !matches!(sent, Ok(_) | Err(Untaken::Unknown(_))) {
                shipped.sending = before;
            }
            let why = match sent {
                Ok((rejected, why)) => {
                    count(done, &batch, rejected);
                    self.settle(done, refused.take());
                    let why = Error::new(why);
                    let rejected = Refused {
                        count: rejected,
                        is_news,
                        why,
                    };
                    self.keep(shipped, batch.after)?;
                    known.clone_from(&shipped.taken);
                    if rejected.count > 0 && !is_news {
                        done.lost += rejected.count;
                        break rejected
                            .why
                            .context("it rejects even what tells of rejected events");
                    }
                    self.settle(done, Some(rejected).filter(|it| it.count > 0));
                    most = BATCH_EVENTS.min(most * 2);
                    continue;
                }
                // Perhaps one of them alone is what it does not take.
                Err(Untaken::Unfit(_)) if batch.events.len() > 1 => {
                    most = batch.events.len() / 2;
                    continue;
                }
                Err(Untaken::Unfit(why)) => {
                    let (count, was_news) = refused.map_or((0, false), |it| (it.count, it.is_news));
                    let (count, is_news) = (count + 1, was_news || is_news);
                    if count >= REFUSED && done.sent == 0 {
                        shipped.taken = known;
                        break why;
                    }
                    shipped.taken = batch.after;
                    refused = Some(Refused {
                        count,
                        is_news,
                        why,
                    });
                    continue;
                }
                Err(Untaken::Unsent(why) | Untaken::Unknown(why)) => why,
            };
            if refused.is_some() {
                shipped.taken = known;
            }
            break why;
        };
        self.write(shipped)?;
        Ok(Err(why))
    }

    fn send(&self, events: &[Value]) -> Result<(u64, String), Untaken> {
        let tool = Tool {
            env: &self.ctx.env,
            deadline: Some(Instant::now() + BATCH),
            scratch: self.dir,
            progress: None,
        };
        let collector = &self.to.collector;
        match collector.way {
            Way::Udp => syslog::datagrams(collector, events)?,
            Way::Tcp => syslog::stream(collector, events)?,
            Way::Tls => syslog::encrypted(&tool, self.to, events)?,
            Way::Otlp => return otlp::post(&tool, self.to, events),
        }
        Ok((0, String::new()))
    }

    /// What a collector never gets is an event, too, which it gets next time.
    fn settle(&self, done: &mut Shipment, refused: Option<Refused>) {
        let Some(refused) = refused else { return };
        done.lost += refused.count;
        if !refused.is_news {
            return;
        }
        let event = Event::new("rejected").with("events", refused.count);
        let event = event.with("collector", self.to.collector.as_str());
        self.ctx.record(event.with("by", refused.why.to_string()));
    }

    fn keep(&self, shipped: &mut Shipped, after: Vec<Mark>) -> Result<()> {
        shipped.taken = after;
        shipped.sending.clear();
        self.write(shipped)
    }

    fn write(&self, shipped: &mut Shipped) -> Result<()> {
        let file = self.dir.path().join(Shipped::file(&shipped.to));
        let written = shipped.write(self.dir);
        written.map_err(|error| Error::io("write", &file, &error))
    }
}

/// Whether an event is about events that a collector did not get.
fn tells_of_others(event: &Value) -> bool {
    matches!(event["event"].as_str(), Some("rejected" | "lost"))
}

/// Counts what a collector took.
fn count(done: &mut Shipment, batch: &Batch, rejected: u64) {
    let events = || batch.events.iter();
    let again = events().filter(|event| event["again"] == true);
    let lost = events().filter(|event| event["event"] == "lost");
    done.sent += (batch.events.len() as u64).saturating_sub(rejected);
    done.again += again.count() as u64;
    done.lost += lost
        .filter_map(|event| event["events"].as_u64())
        .sum::<u64>();
}
