//! The program that the tests re-execute as the supervisor of the server: its main begins as it
//! must, and does nothing else.

fn main() {
    outfitter_process::run_if_supervisor();
}
