//! The hash of a conversation.

use std::sync::Arc;

use outfitter_core::{Hash, Hashing, Message};

use crate::usage;

/// The hash and the size of a conversation, kept up message by message.
#[derive(Debug, Clone, Default)]
pub(super) struct Chain {
    hash: Option<Hash>,
    messages: usize,
    bytes: u64,
}

impl Chain {
    /// Takes in the messages that it does not have yet, and gives the hash of all. Each is hashed
    /// once.
    pub(super) fn hash(&mut self, messages: &[Arc<Message>]) -> Hash {
        let mut hash = self.hash.unwrap_or_else(|| Hash::of(b"conversation"));
        for message in messages.iter().skip(self.messages) {
            hash = chained(hash, message);
            self.bytes += usage::bytes(&message.parts);
        }
        self.messages = messages.len();
        self.hash = Some(hash);
        hash
    }

    /// The text of what was taken in, in bytes.
    pub(super) fn bytes(&self) -> u64 {
        self.bytes
    }
}

/// The hash of a conversation with one more message. The message is hashed while it is written: a
/// long one is not held twice.
fn chained(before: Hash, message: &Message) -> Hash {
    let mut hashing = Hashed(Hashing::new());
    hashing.0.update(before.to_string());
    // What cannot be written hashes as far as it could be.
    let _ = serde_json::to_writer(&mut hashing, message);
    hashing.0.finish()
}

struct Hashed(Hashing);

impl std::io::Write for Hashed {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.update(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}
