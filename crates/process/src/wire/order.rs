//! What is to be run, as the supervisor gets it.

use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;

use super::codec::{Garbled, Reader, Writer};
use crate::spec::{ChildSpec, Confined, Confinement, Level, Limits, Network, Stdin};

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
        let mut r = Reader::of(payload);
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

#[cfg(test)]
mod tests {
    use std::ffi::OsString;
    use std::os::unix::ffi::OsStringExt;

    use super::super::Frames;
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
    fn the_debug_form_of_a_specification_shows_no_value() {
        let mut order = order();
        order.spec.env = vec![("TOKEN".into(), "sentinel-secret".into())];
        order.spec.argv = vec!["sentinel-secret".into()];
        assert!(!format!("{:?}", order.spec).contains("sentinel-secret"));
    }
}
