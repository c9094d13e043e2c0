//! Credentials as headers.

use reqwest::header::HeaderValue;
use secrecy::{ExposeSecret, SecretString};

use crate::NetError;

/// `prefix` and the secret as one header value that prints as `Sensitive`, and that HTTP/2 does
/// not put into its compression table.
///
/// # Errors
/// [`NetError::Credential`] if the secret has a character no header can carry, such as the line
/// break of a key file. The error does not show the secret.
pub fn secret_header(prefix: &str, secret: &SecretString) -> Result<HeaderValue, NetError> {
    let text = SecretString::from(format!("{prefix}{}", secret.expose_secret()));
    let mut value =
        HeaderValue::from_str(text.expose_secret()).map_err(|_| NetError::Credential)?;
    value.set_sensitive(true);
    Ok(value)
}
