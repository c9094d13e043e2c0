//! What the parent and the supervisor say to each other, over one stream socket.
//!
//! A frame is a little-endian `u32` length and that many bytes. The parent sends one byte that
//! carries its own pidfd and perhaps what the child reads, one specification, and later at most a few kill requests; the supervisor
//! answers `started` or `failed`, and in the end `exited`. Secrets travel here and never in argv.

use std::ffi::OsString;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::PathBuf;

use crate::exit::{Ending, Exit, Limit, Reached};
use crate::spec::{ChildSpec, Confined, Confinement, Level, Limits, Network, Stdin};
use crate::stage::Stage;

/// The byte that carries the parent's pidfd and the child's standard input; a process that reads anything else was not started by
/// us. Changes with the format.
pub(crate) const HELLO: u8 = 0xA3;

/// The same, where the second descriptor is the one over which the way out is sent back.
pub(crate) const HELLO_WITH_CHANNEL: u8 = 0xA4;

/// No frame is longer: a specification is bounded by what `execve` takes anyway.
pub(crate) const MAX_FRAME: usize = 16 * 1024 * 1024;

/// What stands for a limit that there is not.
const NO_LIMIT: u64 = u64::MAX;

/// The first frame.
pub(crate) struct Order {
    pub(crate) task: Task,
    pub(crate) spec: ChildSpec,
}

/// What the child process does once it is confined.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Task {
    /// Executes the specification's program.
    Execute,
    /// Ends at once with code 0: proves that the confinement can be had.
    Probe,
}

/// What the supervisor reports.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Report {
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

/// A frame that does not parse.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Garbled;

#[derive(Default)]
struct Writer(Vec<u8>);

impl Writer {
    fn u8(&mut self, value: u8) {
        self.0.push(value);
    }

    fn u32(&mut self, value: u32) {
        self.0.extend_from_slice(&value.to_le_bytes());
    }

    fn u64(&mut self, value: u64) {
        self.0.extend_from_slice(&value.to_le_bytes());
    }

    fn bytes(&mut self, value: &[u8]) {
        self.u32(u32::try_from(value.len()).unwrap_or(u32::MAX));
        self.0.extend_from_slice(value);
    }

    fn paths(&mut self, paths: &[PathBuf]) {
        self.u32(u32::try_from(paths.len()).unwrap_or(u32::MAX));
        for path in paths {
            self.bytes(path.as_os_str().as_bytes());
        }
    }

    /// The bytes with their length in front.
    fn frame(self) -> Vec<u8> {
        let mut framed = Vec::with_capacity(self.0.len() + 4);
        framed.extend_from_slice(
            &u32::try_from(self.0.len())
                .unwrap_or(u32::MAX)
                .to_le_bytes(),
        );
        framed.extend_from_slice(&self.0);
        framed
    }
}

struct Reader<'a>(&'a [u8]);

impl<'a> Reader<'a> {
    fn take(&mut self, len: usize) -> Result<&'a [u8], Garbled> {
        let (head, tail) = self.0.split_at_checked(len).ok_or(Garbled)?;
        self.0 = tail;
        Ok(head)
    }

    fn u8(&mut self) -> Result<u8, Garbled> {
        Ok(self.take(1)?[0])
    }

    fn u32(&mut self) -> Result<u32, Garbled> {
        let bytes = self.take(4)?.try_into().map_err(|_| Garbled)?;
        Ok(u32::from_le_bytes(bytes))
    }

    fn u64(&mut self) -> Result<u64, Garbled> {
        let bytes = self.take(8)?.try_into().map_err(|_| Garbled)?;
        Ok(u64::from_le_bytes(bytes))
    }

    fn bytes(&mut self) -> Result<&'a [u8], Garbled> {
        let len = self.u32()? as usize;
        self.take(len)
    }

    fn os_string(&mut self) -> Result<OsString, Garbled> {
        Ok(OsString::from_vec(self.bytes()?.to_vec()))
    }

    fn list<T>(
        &mut self,
        one: impl Fn(&mut Self) -> Result<T, Garbled>,
    ) -> Result<Vec<T>, Garbled> {
        let count = self.u32()?;
        (0..count).map(|_| one(self)).collect()
    }

    fn paths(&mut self) -> Result<Vec<PathBuf>, Garbled> {
        self.list(|r| r.os_string().map(PathBuf::from))
    }

    fn end(&self) -> Result<(), Garbled> {
        if self.0.is_empty() {
            Ok(())
        } else {
            Err(Garbled)
        }
    }
}

impl Order {
    pub(crate) fn encode(&self) -> Vec<u8> {
        let mut w = Writer::default();
        w.u8(match self.task {
            Task::Execute => 0,
            Task::Probe => 1,
        });
        w.u32(u32::try_from(self.spec.argv.len()).unwrap_or(u32::MAX));
        for arg in &self.spec.argv {
            w.bytes(arg.as_bytes());
        }
        w.u32(u32::try_from(self.spec.env.len()).unwrap_or(u32::MAX));
        for (name, value) in &self.spec.env {
            w.bytes(name.as_bytes());
            w.bytes(value.as_bytes());
        }
        w.bytes(self.spec.cwd.as_os_str().as_bytes());
        let Limits {
            open_files,
            processes,
            file_bytes,
            memory_bytes,
            cpu_seconds,
        } = self.spec.limits;
        w.u64(open_files);
        w.u64(processes);
        w.u64(file_bytes);
        w.u64(memory_bytes.unwrap_or(NO_LIMIT));
        w.u64(cpu_seconds.unwrap_or(NO_LIMIT));
        match &self.spec.confinement {
            Confinement::Unconfined => w.u8(0),
            Confinement::Wrapper => w.u8(2),
            Confinement::WrapperWithOutlet => w.u8(3),
            Confinement::Confined(confined) => {
                w.u8(1);
                w.u8(match confined.level {
                    Level::None => 0,
                    Level::Partial => 1,
                    Level::Full => 2,
                });
                w.u8(match confined.network {
                    Network::Off => 0,
                    Network::On => 1,
                    Network::Outlet => 2,
                    Network::Alone => 3,
                });
                w.paths(&confined.write);
                w.paths(&confined.read);
                w.paths(&confined.fixed);
                w.paths(&confined.hide);
                w.paths(&confined.private);
                w.paths(&confined.blank);
            }
        }
        w.frame()
    }

    pub(crate) fn decode(payload: &[u8]) -> Result<Self, Garbled> {
        let mut r = Reader(payload);
        let task = match r.u8()? {
            0 => Task::Execute,
            1 => Task::Probe,
            _ => return Err(Garbled),
        };
        let argv = r.list(Reader::os_string)?;
        let env = r.list(|r| Ok((r.os_string()?, r.os_string()?)))?;
        let cwd = PathBuf::from(r.os_string()?);
        let limits = Limits {
            open_files: r.u64()?,
            processes: r.u64()?,
            file_bytes: r.u64()?,
            memory_bytes: Some(r.u64()?).filter(|bytes| *bytes != NO_LIMIT),
            cpu_seconds: Some(r.u64()?).filter(|seconds| *seconds != NO_LIMIT),
        };
        let confinement = match r.u8()? {
            0 => Confinement::Unconfined,
            2 => Confinement::Wrapper,
            3 => Confinement::WrapperWithOutlet,
            1 => Confinement::Confined(Confined {
                level: match r.u8()? {
                    0 => Level::None,
                    1 => Level::Partial,
                    2 => Level::Full,
                    _ => return Err(Garbled),
                },
                network: match r.u8()? {
                    0 => Network::Off,
                    1 => Network::On,
                    2 => Network::Outlet,
                    3 => Network::Alone,
                    _ => return Err(Garbled),
                },
                write: r.paths()?,
                read: r.paths()?,
                fixed: r.paths()?,
                hide: r.paths()?,
                private: r.paths()?,
                blank: r.paths()?,
            }),
            _ => return Err(Garbled),
        };
        r.end()?;
        Ok(Self {
            task,
            spec: ChildSpec {
                argv,
                env,
                cwd,
                // It travelled as a descriptor, before this.
                stdin: Stdin::Null,
                confinement,
                limits,
            },
        })
    }
}

/// The one request after the order: end the tree, politely for this many milliseconds.
pub(crate) fn encode_kill(grace_ms: u32) -> Vec<u8> {
    let mut w = Writer::default();
    w.u32(grace_ms);
    w.frame()
}

pub(crate) fn decode_kill(payload: &[u8]) -> Result<u32, Garbled> {
    let mut r = Reader(payload);
    let grace_ms = r.u32()?;
    r.end()?;
    Ok(grace_ms)
}

impl Report {
    pub(crate) fn encode(&self) -> Vec<u8> {
        let mut w = Writer::default();
        match self {
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
                w.u32(u32::try_from(exit.notes.len()).unwrap_or(u32::MAX));
                for note in &exit.notes {
                    w.bytes(note.as_bytes());
                }
            }
        }
        w.frame()
    }

    pub(crate) fn decode(payload: &[u8]) -> Result<Self, Garbled> {
        let mut r = Reader(payload);
        let report = match r.u8()? {
            0 => Self::Started,
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
                    notes: r.list(|r| Ok(String::from_utf8_lossy(r.bytes()?).into_owned()))?,
                })
            }
            _ => return Err(Garbled),
        };
        r.end()?;
        Ok(report)
    }
}

/// Collects bytes of a stream socket until frames are whole.
#[derive(Debug, Default)]
pub(crate) struct Frames(Vec<u8>);

impl Frames {
    pub(crate) fn push(&mut self, bytes: &[u8]) {
        self.0.extend_from_slice(bytes);
    }

    /// The next whole frame's payload, if there is one.
    pub(crate) fn next(&mut self) -> Result<Option<Vec<u8>>, Garbled> {
        let Some((head, rest)) = self.0.split_at_checked(4) else {
            return Ok(None);
        };
        let len = u32::from_le_bytes(head.try_into().map_err(|_| Garbled)?) as usize;
        if len > MAX_FRAME {
            return Err(Garbled);
        }
        if rest.len() < len {
            return Ok(None);
        }
        let payload = rest[..len].to_vec();
        self.0.drain(..4 + len);
        Ok(Some(payload))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn order() -> Order {
        Order {
            task: Task::Execute,
            spec: ChildSpec {
                argv: vec![
                    "sh".into(),
                    "-c".into(),
                    OsString::from_vec(vec![0xff, b'x']),
                ],
                env: vec![("A".into(), "b=c".into())],
                cwd: "/w".into(),
                stdin: Stdin::Bytes("sentinel-secret".into()),
                confinement: Confinement::Confined(Confined {
                    level: Level::Full,
                    network: Network::Off,
                    write: vec!["/w".into()],
                    read: vec!["/usr".into(), "/etc/hosts".into()],
                    fixed: vec!["/w/f".into()],
                    hide: vec![],
                    private: vec!["/p".into()],
                    blank: vec!["/b".into()],
                }),
                limits: Limits {
                    memory_bytes: Some(7),
                    ..Limits::DEFAULT
                },
            },
        }
    }

    #[test]
    fn an_order_survives_the_wire_in_any_pieces() {
        let sent = order();
        let bytes = sent.encode();
        for cut in 0..=bytes.len() {
            let mut frames = Frames::default();
            frames.push(&bytes[..cut]);
            if cut < bytes.len() {
                assert_eq!(frames.next(), Ok(None), "a frame before its end, at {cut}");
            }
            frames.push(&bytes[cut..]);
            let payload = frames.next().unwrap().unwrap();
            let got = Order::decode(&payload).unwrap();
            assert_eq!(got.spec.argv, sent.spec.argv);
            assert_eq!(got.spec.env, sent.spec.env);
            assert_eq!(got.spec.confinement, sent.spec.confinement);
            assert_eq!(got.spec.limits, sent.spec.limits);
        }
    }

    #[test]
    fn a_cut_or_lengthened_order_is_refused() {
        let bytes = order().encode();
        let payload = &bytes[4..];
        for cut in 0..payload.len() {
            assert!(
                Order::decode(&payload[..cut]).is_err(),
                "accepted {cut} bytes"
            );
        }
        let mut longer = payload.to_vec();
        longer.push(0);
        assert!(Order::decode(&longer).is_err());
    }

    #[test]
    fn reports_survive_the_wire() {
        for report in [
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
                notes: vec!["a note".to_owned()],
            }),
            Report::Exited(Exit {
                ending: Ending::Signal(9),
                killed_children: 0,
                survivors: vec![],
                reached: vec![],
                notes: vec![],
            }),
        ] {
            let bytes = report.encode();
            assert_eq!(Report::decode(&bytes[4..]), Ok(report));
        }
    }

    #[test]
    fn the_debug_form_of_a_specification_shows_no_value() {
        let mut order = order();
        order.spec.env = vec![("TOKEN".into(), "sentinel-secret".into())];
        order.spec.argv = vec!["sentinel-secret".into()];
        assert!(!format!("{:?}", order.spec).contains("sentinel-secret"));
    }
}
