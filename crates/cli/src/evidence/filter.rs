//! The options that choose records.

use aegx::{Digest, RecordType, timestamp};
use evidence::Filter;
use model::{AgentId, Kind, SessionId, Taint};

use crate::failure::Failure;

/// Which records. Everything given must hold.
#[derive(clap::Args)]
pub(crate) struct FilterArgs {
    /// Of this session.
    #[arg(long)]
    session: Option<String>,
    /// Of this agent.
    #[arg(long)]
    agent: Option<String>,
    /// Of this type, such as ToolCall.
    #[arg(long = "type", value_name = "TYPE")]
    record_type: Option<String>,
    /// Of this kind, such as interrupted.
    #[arg(long)]
    kind: Option<String>,
    /// Not before this time (RFC 3339), or this long ago (90s, 15m, 12h, 30d).
    #[arg(long, value_name = "TIME")]
    since: Option<String>,
    /// Before this time, or before this long ago.
    #[arg(long, value_name = "TIME")]
    until: Option<String>,
    /// With all of these taint flags, separated by commas.
    #[arg(long, value_delimiter = ',', value_name = "FLAGS")]
    taint: Vec<String>,
    /// With this id.
    #[arg(long, value_name = "ID")]
    id: Option<String>,
    /// With this record among its parents.
    #[arg(long, value_name = "ID")]
    parent: Option<String>,
}

impl FilterArgs {
    pub(crate) fn to_filter(&self, now: i64, limit: Option<u64>) -> Result<Filter, Failure> {
        let flags = self.taint.iter().map(|it| Taint::parse(it).map_err(Failure::usage));
        let taint = flags.collect::<Result<Vec<_>, _>>()?;
        let time = |it: &Option<String>| it.as_deref().map(|it| parse_time(it, now)).transpose();
        Ok(Filter {
            session: parse(&self.session, SessionId::parse)?,
            agent: parse(&self.agent, AgentId::parse)?,
            record_type: parse(&self.record_type, parse_type)?,
            kind: parse(&self.kind, Kind::parse)?,
            since: time(&self.since)?,
            until: time(&self.until)?,
            taint: taint.into_iter().reduce(Taint::union),
            id: parse(&self.id, parse_id)?,
            parent: parse(&self.parent, parse_id)?,
            limit,
        })
    }
}

fn parse<T, E: std::fmt::Display>(
    text: &Option<String>,
    parse: impl Fn(&str) -> Result<T, E>,
) -> Result<Option<T>, Failure> {
    text.as_deref().map(|it| parse(it).map_err(Failure::usage)).transpose()
}

fn parse_type(text: &str) -> Result<RecordType, String> {
    RecordType::from_name(text.as_bytes()).ok_or_else(|| {
        let names: Vec<_> = RecordType::ALL.iter().map(|it| it.as_str()).collect();
        format!("`{text}` is no type; choose one of {}", names.join(", "))
    })
}

pub(crate) fn parse_id(text: &str) -> Result<Digest, String> {
    Digest::from_hex(text.as_bytes())
        .ok_or_else(|| format!("`{text}` is no id: an id has 64 lower-case hex digits"))
}

/// A time, or how long ago, in seconds since 1970.
pub(crate) fn parse_time(text: &str, now: i64) -> Result<i64, Failure> {
    if let Some(at) = timestamp::to_unix(text) {
        return Ok(at);
    }
    let ago = || -> Option<i64> {
        let unit = text.chars().next_back()?;
        let count: i64 = text.strip_suffix(unit)?.parse().ok().filter(|it| *it >= 0)?;
        let seconds = match unit {
            's' => 1,
            'm' => 60,
            'h' => 3600,
            'd' => 86_400,
            _ => return None,
        };
        now.checked_sub(count.checked_mul(seconds)?)
    };
    ago().ok_or_else(|| {
        Failure::usage(format!(
            "`{text}` is no time such as 2026-02-15T00:00:00Z, and not 15m or 30d"
        ))
    })
}
