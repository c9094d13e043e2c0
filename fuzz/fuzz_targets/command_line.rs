#![no_main]

#[path = "../checks/command_line.rs"]
mod check;

libfuzzer_sys::fuzz_target!(|data: &[u8]| check::check(data));
