//! A tool of your own.
