//! PEM (RFC 7468), as far as one private key needs it.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use secrecy::SecretBox;

use crate::error::KeyError;

const BEGIN: &str = "-----BEGIN PRIVATE KEY-----";
const END: &str = "-----END PRIVATE KEY-----";

/// How long a line is.
const LINE: usize = 64;

/// Whether this is PEM and no raw seed.
pub(crate) fn is_pem(bytes: &[u8]) -> bool {
    bytes.trim_ascii_start().starts_with(b"-----BEGIN")
}

pub(crate) fn decode(text: &str) -> Result<SecretBox<Vec<u8>>, KeyError> {
    let (_, rest) = text
        .split_once(BEGIN)
        .ok_or(KeyError::Invalid("it is no PKCS #8 private key in PEM"))?;
    let (body, _) = rest
        .split_once(END)
        .ok_or(KeyError::Invalid("it is PEM that was cut off"))?;
    let mut bytes = Vec::with_capacity(body.len());
    bytes.extend(body.bytes().filter(|byte| !byte.is_ascii_whitespace()));
    STANDARD
        .decode(&bytes)
        .map(|der| SecretBox::new(Box::new(der)))
        .map_err(|_| KeyError::Invalid("it is PEM that does not decode"))
}

pub(crate) fn encode(der: &[u8]) -> String {
    let body = STANDARD.encode(der);
    let mut text = String::from(BEGIN);
    for (at, letter) in body.chars().enumerate() {
        if at % LINE == 0 {
            text.push('\n');
        }
        text.push(letter);
    }
    text.push('\n');
    text.push_str(END);
    text.push('\n');
    text
}
