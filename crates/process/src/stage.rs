//! The steps between a specification and a running child, for messages that say which one failed.

macro_rules! stages {
    ($($(#[doc = $doc:literal])+ $name:ident = $code:literal, $text:literal;)+) => {
        /// A step of starting a child. Its text reads on after "failed to".
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum Stage {
            $($(#[doc = $doc])+ $name,)+
        }

        impl Stage {
            pub(crate) const fn code(self) -> u8 {
                match self { $(Self::$name => $code,)+ }
            }

            pub(crate) const fn from_code(code: u8) -> Option<Self> {
                match code { $($code => Some(Self::$name),)+ _ => None }
            }

            /// What was being tried.
            #[must_use]
            pub const fn as_str(self) -> &'static str {
                match self { $(Self::$name => $text,)+ }
            }
        }
    };
}

stages! {
    /// Reading what the parent sent.
    Specification = 1, "read the child's specification";
    /// Resolving the roots.
    Roots = 2, "resolve the sandbox's directories";
    /// `clone` with new namespaces.
    Namespaces = 3, "make namespaces";
    /// Mapping the user into the new user namespace.
    UserMap = 4, "map the user into a user namespace";
    /// Building the mount namespace.
    Mounts = 5, "build the mount namespace";
    /// Mounting a `/proc` of the new process namespace.
    Proc = 6, "mount a fresh /proc";
    /// Building the Landlock rule set.
    Landlock = 7, "build the Landlock rules";
    /// Forking the child.
    Fork = 8, "start a process";
    /// Session, descriptors, limits.
    Prepare = 9, "prepare the process";
    /// Entering the working directory.
    WorkingDirectory = 10, "enter the working directory";
    /// Dropping capabilities.
    Capabilities = 11, "drop capabilities";
    /// Entering the Landlock domain.
    Restrict = 12, "enter the Landlock domain";
    /// Installing the seccomp filter.
    Seccomp = 13, "install the seccomp filter";
    /// `execve`.
    Execute = 14, "execute the program";
    /// Opening the way out of a network of its own.
    Outlet = 15, "open the way to the network";
}

impl std::fmt::Display for Stage {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.as_str())
    }
}
