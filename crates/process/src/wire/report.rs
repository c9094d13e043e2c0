//! What becomes of it, as the parent is told.

use super::codec::{Garbled, Reader, Writer};
use crate::exit::{Ending, Exit, Limit, Reached};
use crate::stage::Stage;

/// What the supervisor reports.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Report {
    /// All is prepared: unless it is told that this failed, the program may run.
    Starting,
    Started,
    Failed(Failure),
    Exited(Exit),
}

/// A step of the set-up that failed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Failure {
    pub(crate) stage: Stage,
    pub(crate) errno: i32,
    pub(crate) detail: String,
}

impl Report {
    pub(crate) fn encode(&self) -> Vec<u8> {
        let mut w = Writer::default();
        match self {
            Self::Starting => w.u8(3),
            Self::Started => w.u8(0),
            Self::Failed(failure) => {
                w.u8(1);
                w.u8(failure.stage.code());
                w.u32(failure.errno.cast_unsigned());
                w.bytes(failure.detail.as_bytes());
            }
            Self::Exited(exit) => {
                w.u8(2);
                let (kind, value) = match exit.ending {
                    Ending::Code(code) => (0, code),
                    Ending::Signal(signal) => (1, signal),
                };
                w.u8(kind);
                w.u32(value.cast_unsigned());
                w.u32(exit.killed_children);
                w.u32(u32::try_from(exit.survivors.len()).unwrap_or(u32::MAX));
                for pid in &exit.survivors {
                    w.u32(*pid);
                }
                w.u32(u32::try_from(exit.reached.len()).unwrap_or(u32::MAX));
                for reached in &exit.reached {
                    w.u8(reached.limit.code());
                    w.bytes(reached.said.as_bytes());
                }
                w.u32(u32::try_from(exit.counted.len()).unwrap_or(u32::MAX));
                for limit in &exit.counted {
                    w.u8(limit.code());
                }
                w.u32(u32::try_from(exit.notes.len()).unwrap_or(u32::MAX));
                for note in &exit.notes {
                    w.bytes(note.as_bytes());
                }
            }
        }
        w.frame()
    }

    pub(crate) fn decode(payload: &[u8]) -> Result<Self, Garbled> {
        let mut r = Reader::of(payload);
        let report = match r.u8()? {
            0 => Self::Started,
            3 => Self::Starting,
            1 => Self::Failed(Failure {
                stage: Stage::from_code(r.u8()?).ok_or(Garbled)?,
                errno: r.u32()?.cast_signed(),
                detail: String::from_utf8_lossy(r.bytes()?).into_owned(),
            }),
            2 => {
                let kind = r.u8()?;
                let value = r.u32()?.cast_signed();
                Self::Exited(Exit {
                    ending: match kind {
                        0 => Ending::Code(value),
                        1 => Ending::Signal(value),
                        _ => return Err(Garbled),
                    },
                    killed_children: r.u32()?,
                    survivors: r.list(Reader::u32)?,
                    reached: r.list(|r| {
                        Ok(Reached {
                            limit: Limit::from_code(r.u8()?).ok_or(Garbled)?,
                            said: String::from_utf8_lossy(r.bytes()?).into_owned(),
                        })
                    })?,
                    counted: r.list(|r| Limit::from_code(r.u8()?).ok_or(Garbled))?,
                    notes: r.list(|r| Ok(String::from_utf8_lossy(r.bytes()?).into_owned()))?,
                })
            }
            _ => return Err(Garbled),
        };
        r.end()?;
        Ok(report)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reports_survive_the_wire() {
        for report in [
            Report::Starting,
            Report::Started,
            Report::Failed(Failure {
                stage: Stage::Proc,
                errno: 1,
                detail: "x".into(),
            }),
            Report::Exited(Exit {
                ending: Ending::Code(-1),
                killed_children: 3,
                survivors: vec![7, 8],
                reached: vec![Reached {
                    limit: Limit::Processes,
                    said: "reached".to_owned(),
                }],
                counted: vec![Limit::Memory, Limit::Processes],
                notes: vec!["a note".to_owned()],
            }),
            Report::Exited(Exit {
                ending: Ending::Signal(9),
                killed_children: 0,
                survivors: vec![],
                reached: vec![],
                counted: vec![],
                notes: vec![],
            }),
        ] {
            let bytes = report.encode();
            assert_eq!(Report::decode(&bytes[4..]), Ok(report));
        }
    }
}
