//! What of a text or a value must not be shown: values under the names of secrets, and what stands
//! in addresses.
//!
//! One place for all that writes arguments, results, errors and events for records, people and
//! programs. Whoever *acts* on a text takes the text itself.

mod address;
mod inert;
mod names;
mod parameters;
mod shape;
mod value;
mod written;

pub use address::{address_secrets, redact_addresses, redact_passwords};
pub use names::{is_secret_key, names_a_secret};
pub use shape::is_key_not_name;
pub use value::{redact_arguments, redact_value};
pub use written::{ArgumentsCarry, TextsShown};

/// What stands in the place of a secret.
pub const REDACTED: &str = "[redacted]";
