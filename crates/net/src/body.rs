//! Bodies, unpacked and bounded while they are read.

use std::io::{self, Write};

use flate2::write::{DeflateDecoder, MultiGzDecoder, ZlibDecoder};
use reqwest::Response;
use reqwest::header::CONTENT_ENCODING;

use crate::{NetError, Origin};

/// What [`read_body`] unpacks: the value of `Accept-Encoding`.
pub const ACCEPTED_ENCODINGS: &str = "gzip, deflate";

/// A body, or its beginning.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Body {
    /// The bytes, unpacked.
    pub bytes: Vec<u8>,
    /// Whether the bound cut it.
    pub cut: bool,
}

/// Reads a body until its end or until there are `max` bytes of it, unpacked. Neither what is
/// received nor what it unpacks to is ever held beyond that, whatever the reply says of its length.
///
/// # Errors
/// [`NetError::Body`] when it breaks off; [`NetError::Encoding`] and [`NetError::Unpack`] when it is
/// packed in another way, or not as it says.
pub async fn read_body(mut response: Response, max: usize) -> Result<Body, NetError> {
    let origin = Origin::of(response.url());
    let mut unpacker = Unpacker::new(encoding(&response), max).map_err(|encoding| {
        let origin = origin.clone();
        NetError::Encoding { origin, encoding }
    })?;
    let mut received = false;
    while let Some(chunk) = response.chunk().await? {
        received |= !chunk.is_empty();
        match unpacker.push(&chunk) {
            Ok(()) => {}
            Err(_) if unpacker.is_full() => return Ok(unpacker.into_body()),
            Err(source) => return Err(NetError::Unpack { origin, source }),
        }
    }
    if !received {
        // An empty body may say that it is packed.
        return Ok(unpacker.into_body());
    }
    match unpacker.finish() {
        Ok(()) => Ok(unpacker.into_body()),
        Err(_) if unpacker.is_full() => Ok(unpacker.into_body()),
        Err(source) => Err(NetError::Unpack { origin, source }),
    }
}

fn encoding(response: &Response) -> String {
    let values = response.headers().get_all(CONTENT_ENCODING).iter();
    let words = values.map(|value| String::from_utf8_lossy(value.as_bytes()));
    let words: Vec<_> = words.map(|word| word.trim().to_ascii_lowercase()).collect();
    words.join(", ")
}

/// Takes bytes until it is full.
struct Sink {
    bytes: Vec<u8>,
    max: usize,
    full: bool,
}

impl Write for Sink {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let room = self.max - self.bytes.len();
        let fits = bytes.len().min(room);
        self.bytes.extend_from_slice(&bytes[..fits]);
        if fits < bytes.len() {
            self.full = true;
            return Err(io::Error::other("it is larger than the bound"));
        }
        Ok(fits)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

enum Unpacker {
    Plain(Sink),
    Gzip(MultiGzDecoder<Sink>),
    /// What is called deflate is with or without a header; the first byte tells.
    DeflateUnknown(Sink),
    Zlib(ZlibDecoder<Sink>),
    Deflate(DeflateDecoder<Sink>),
}

impl Unpacker {
    fn new(encoding: String, max: usize) -> Result<Self, String> {
        let sink = Sink {
            bytes: Vec::new(),
            max,
            full: false,
        };
        match encoding.as_str() {
            "" | "identity" => Ok(Self::Plain(sink)),
            "gzip" | "x-gzip" => Ok(Self::Gzip(MultiGzDecoder::new(sink))),
            "deflate" => Ok(Self::DeflateUnknown(sink)),
            _ => Err(encoding),
        }
    }

    fn push(&mut self, chunk: &[u8]) -> io::Result<()> {
        if let Self::DeflateUnknown(sink) = self {
            let Some(first) = chunk.first() else {
                return Ok(());
            };
            let empty = Sink {
                bytes: Vec::new(),
                max: sink.max,
                full: false,
            };
            *self = if first & 0x0f == 8 {
                Self::Zlib(ZlibDecoder::new(empty))
            } else {
                Self::Deflate(DeflateDecoder::new(empty))
            };
        }
        match self {
            Self::Plain(sink) | Self::DeflateUnknown(sink) => sink.write_all(chunk),
            Self::Gzip(decoder) => decoder.write_all(chunk),
            Self::Zlib(decoder) => decoder.write_all(chunk),
            Self::Deflate(decoder) => decoder.write_all(chunk),
        }
    }

    fn finish(&mut self) -> io::Result<()> {
        match self {
            Self::Plain(_) | Self::DeflateUnknown(_) => Ok(()),
            Self::Gzip(decoder) => decoder.try_finish(),
            Self::Zlib(decoder) => decoder.try_finish(),
            Self::Deflate(decoder) => decoder.try_finish(),
        }
    }

    fn sink(&self) -> &Sink {
        match self {
            Self::Plain(sink) | Self::DeflateUnknown(sink) => sink,
            Self::Gzip(decoder) => decoder.get_ref(),
            Self::Zlib(decoder) => decoder.get_ref(),
            Self::Deflate(decoder) => decoder.get_ref(),
        }
    }

    fn is_full(&self) -> bool {
        self.sink().full
    }

    fn into_body(mut self) -> Body {
        let sink = match &mut self {
            Self::Plain(sink) | Self::DeflateUnknown(sink) => sink,
            Self::Gzip(decoder) => decoder.get_mut(),
            Self::Zlib(decoder) => decoder.get_mut(),
            Self::Deflate(decoder) => decoder.get_mut(),
        };
        let cut = sink.full;
        // What a decoder still writes when it is dropped goes nowhere.
        sink.full = true;
        let bytes = std::mem::take(&mut sink.bytes);
        sink.max = 0;
        Body { bytes, cut }
    }
}
