//! `current_time`: what time it is, somewhere.

use async_trait::async_trait;
use jiff::Timestamp;
use jiff::tz::TimeZone;
use outfitter_core::{Effects, Facts, Outcome};
use outfitter_core::{Reply, Tool, ToolContext, ToolError, ToolSpec, UnixMs};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::args;
use crate::spec::{Words, object, spec};

const WORDS: Words<'static> = Words {
    name: "current_time",
    description: "Tells the present date, time and weekday in a time zone. Use it whenever an \
        answer depends on today or now; do not guess dates. It does not compute with dates and \
        does not wait: for arithmetic use calculator.",
    keywords: &[
        "time", "date", "now", "today", "clock", "timezone", "weekday", "时间", "日期", "今天",
        "现在", "几点", "星期", "时区",
    ],
};

/// Tells the time. The zone rules are those compiled in, so that every machine answers the same.
#[derive(Debug)]
pub struct CurrentTime {
    spec: ToolSpec,
}

impl Default for CurrentTime {
    fn default() -> Self {
        let input = object(
            &[],
            json!({
                "timezone": {
                    "type": "string", "minLength": 1, "maxLength": 64, "default": "UTC",
                    "description": "IANA name of the time zone, for example Asia/Shanghai or Europe/Berlin.",
                },
            }),
        );
        let output = object(
            &["iso", "timezone", "unix_ms", "weekday"],
            json!({
                "iso": { "type": "string", "description": "RFC 3339, with the zone's offset." },
                "timezone": { "type": "string" },
                "unix_ms": { "type": "integer" },
                "weekday": { "type": "string", "description": "In English: Monday to Sunday." },
            }),
        );
        Self {
            spec: ToolSpec {
                effects: Effects::READ,
                idempotent: true,
                ..spec(&WORDS, input, output)
            },
        }
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Args {
    #[serde(default = "utc")]
    timezone: String,
}

fn utc() -> String {
    "UTC".to_owned()
}

#[async_trait]
impl Tool for CurrentTime {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    fn facts(&self, args: &Value) -> Result<Facts, ToolError> {
        // Said before anything runs, also to who sets it for every call.
        if let Some(name) = args.get("timezone").and_then(Value::as_str) {
            zone(name)?;
        }
        Ok(Facts::of(&self.spec))
    }

    async fn call(&self, cx: &ToolContext, args: Value) -> Result<Reply, ToolError> {
        let Args { timezone } = args::parse(args)?;
        Ok(Outcome::json(time_in(cx.clock.now(), &timezone)?).into())
    }
}

fn zone(name: &str) -> Result<TimeZone, ToolError> {
    TimeZone::get(name).map_err(|_| {
        ToolError::invalid("/timezone", format!("there is no time zone {name}"))
            .with_hint("use an IANA name such as UTC, Asia/Shanghai or America/New_York")
    })
}

fn time_in(now: UnixMs, name: &str) -> Result<Value, ToolError> {
    let zone = zone(name)?;
    let instant = i64::try_from(now.0)
        .ok()
        .and_then(|ms| Timestamp::from_millisecond(ms).ok())
        .ok_or_else(|| ToolError::internal("the clock is out of range"))?;
    let canonical = zone.iana_name().unwrap_or(name).to_owned();
    let there = instant.to_zoned_datetime(zone);
    Ok(json!({
        "iso": there.strftime("%Y-%m-%dT%H:%M:%S%.3f%:z").to_string(),
        "timezone": canonical,
        "unix_ms": now.0,
        "weekday": there.strftime("%A").to_string(),
    }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use outfitter_core::Code;
    use rstest::rstest;

    #[rstest]
    #[case("UTC", "2026-03-29T00:59:59.500+00:00", "Sunday")]
    #[case("Europe/Berlin", "2026-03-29T01:59:59.500+01:00", "Sunday")]
    #[case("Asia/Shanghai", "2026-03-29T08:59:59.500+08:00", "Sunday")]
    #[case("America/Los_Angeles", "2026-03-28T17:59:59.500-07:00", "Saturday")]
    #[case("Asia/Kathmandu", "2026-03-29T06:44:59.500+05:45", "Sunday")]
    fn one_instant_is_told_in_many_zones(#[case] zone: &str, #[case] iso: &str, #[case] day: &str) {
        let now = UnixMs(1_774_745_999_500);
        let told = time_in(now, zone).unwrap();
        assert_eq!(told["iso"], iso);
        assert_eq!(told["weekday"], day);
        assert_eq!(told["timezone"], zone);
        assert_eq!(told["unix_ms"], 1_774_745_999_500_u64);
    }

    #[test]
    fn summer_time_begins_where_the_zone_says() {
        let after = time_in(UnixMs(1_774_746_000_000), "Europe/Berlin").unwrap();
        assert_eq!(after["iso"], "2026-03-29T03:00:00.000+02:00");
    }

    #[test]
    fn an_unknown_zone_is_an_argument_that_cannot_be_used() {
        let error = time_in(UnixMs(0), "Mars/Olympus").unwrap_err();
        assert_eq!(error.code(), Code::InvalidArguments);
        assert_eq!(error.info().path.as_deref(), Some("/timezone"));
    }
}
