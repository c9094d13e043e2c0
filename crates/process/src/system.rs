//! What this runs on.

#[cfg(not(target_os = "linux"))]
compile_error!(
    "Outfitter runs on Linux: what holds its commands are namespaces, Landlock and seccomp, and \
     elsewhere nothing is pretended"
);
