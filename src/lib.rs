//! Outfitter.
