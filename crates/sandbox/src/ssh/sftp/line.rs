//! One channel to the server of files. What is asked together is on its way together.

use bytes::{Buf, Bytes, BytesMut};
use russh::client::Msg;
use russh::{Channel, ChannelMsg};

use super::ask::{Ask, POSIX_RENAME, hello};
use super::reply::{Fault, MAX_PACKET_BYTES, Reply, extensions, reply};

/// The most questions that are on their way together.
pub(super) const MAX_ASKED: usize = 32;

pub(super) struct Line {
    channel: Channel<Msg>,
    said: BytesMut,
    next: u32,
    /// Answers are outstanding that nobody waits for any more: it is of no use.
    pub(super) is_broken: bool,
    pub(super) number: u64,
    pub(super) can: Can,
}

/// What the server can do beside the protocol.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Can {
    /// Replace a file in one step.
    pub(crate) replace: bool,
}

impl Line {
    /// Says hello on a channel that the server of files is at the other end of.
    pub(super) async fn open(channel: Channel<Msg>, number: u64) -> Result<Self, Fault> {
        let mut line = Self {
            channel,
            said: BytesMut::new(),
            next: 0,
            is_broken: true,
            number,
            can: Can::default(),
        };
        line.send(hello()).await?;
        let packet = line.packet().await?;
        let names = extensions(packet)
            .ok_or_else(|| Fault::Lost("its server of files speaks no SFTP 3".to_owned()))?;
        let has = |name: &str| names.iter().any(|known| known == name);
        line.can = Can {
            replace: has(POSIX_RENAME),
        };
        line.is_broken = false;
        Ok(line)
    }

    /// Asks all of these, at most [`MAX_ASKED`], and gives the answers in their order.
    pub(super) async fn ask(&mut self, asks: &[Ask<'_>]) -> Result<Vec<Reply>, Fault> {
        // Until all is answered, for whoever lets us go meanwhile.
        self.is_broken = true;
        let first = self.next;
        let mut out = BytesMut::new();
        for ask in asks {
            ask.write(self.next, &mut out);
            self.next = self.next.wrapping_add(1);
        }
        self.send(out.freeze()).await?;
        let mut replies: Vec<Option<Reply>> = vec![None; asks.len()];
        for _ in 0..asks.len() {
            let packet = self.packet().await?;
            let (id, reply) = reply(packet).ok_or_else(garbled)?;
            let at = usize::try_from(id.wrapping_sub(first)).unwrap_or(usize::MAX);
            match replies.get_mut(at) {
                Some(empty @ None) => *empty = Some(reply),
                Some(Some(_)) | None => return Err(garbled()),
            }
        }
        self.is_broken = false;
        Ok(replies.into_iter().flatten().collect())
    }

    /// Says that it is not needed any more.
    pub(super) async fn close(self) {
        // Where the connection is gone the channel is, too.
        let _ = self.channel.close().await;
    }

    async fn send(&self, bytes: Bytes) -> Result<(), Fault> {
        self.channel
            .data(&bytes[..])
            .await
            .map_err(|error| Fault::Lost(error.to_string()))
    }

    async fn packet(&mut self) -> Result<Bytes, Fault> {
        loop {
            if let Some(length) = self.said.first_chunk::<4>() {
                let length = u32::from_be_bytes(*length) as usize;
                if length > MAX_PACKET_BYTES {
                    return Err(garbled());
                }
                if self.said.len() >= 4 + length {
                    self.said.advance(4);
                    return Ok(self.said.split_to(length).freeze());
                }
            }
            match self.channel.wait().await {
                Some(ChannelMsg::Data { data }) => self.said.extend_from_slice(&data),
                Some(ChannelMsg::Eof | ChannelMsg::Close) | None => {
                    return Err(Fault::Lost("its server of files has ended".to_owned()));
                }
                Some(_) => {}
            }
        }
    }
}

fn garbled() -> Fault {
    Fault::Lost("its server of files does not answer what was asked".to_owned())
}
