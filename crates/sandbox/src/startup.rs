//! What makes programs run later, outside any sandbox: Outfitter's own configuration, and what
//! shells, logins and git read in a home directory. It is read like any file and written by no tool.

use std::path::Path;

use crate::protected::fold;

/// Outfitter's own configuration, by name, in every directory: each may be opened as a workspace.
pub const CONFIGURATION: &[&str] = &["outfitter.toml", ".outfitter"];

/// What is read beneath a home directory when a shell, a login, a desktop, git, cargo or an editor
/// starts, and names programs to run. A directory covers all that is in it; a final `*` covers every
/// name that begins so.
pub(crate) const HOME_STARTUP: &[&str] = &[
    ".config/outfitter",
    ".profile",
    ".bashrc",
    ".bash_profile",
    ".bash_login",
    ".bash_logout",
    ".bash_aliases",
    ".zshrc",
    ".zshenv",
    ".zprofile",
    ".zlogin",
    ".zlogout",
    ".kshrc",
    ".mkshrc",
    ".config/fish",
    ".pam_environment",
    ".xprofile",
    ".xinitrc",
    ".xsession",
    ".xsessionrc",
    ".config/autostart",
    ".config/environment.d",
    ".config/systemd",
    ".config/plasma-workspace",
    ".local/share/applications",
    ".local/share/dbus-1",
    ".local/share/systemd",
    ".gitconfig",
    ".config/git",
    ".cargo/config",
    ".cargo/config.toml",
    ".config/direnv",
    ".tmux.conf",
    ".config/tmux",
    ".screenrc",
    ".inputrc",
    ".vimrc",
    ".vim/vimrc",
    ".config/nvim/init.*",
    ".emacs",
    ".emacs.d/init.el",
    ".gdbinit",
    ".config/gdb",
    ".lldbinit",
    ".lessfilter",
    ".gradle/init.gradle",
    ".gradle/init.d",
    ".Rprofile",
    ".irbrc",
];

pub(crate) const WHY_CONFIGURATION: &str = "it is configuration of Outfitter, which says what runs outside the sandbox; only people write it";
pub(crate) const WHY_STARTUP: &str =
    "it says what runs outside the sandbox when something starts; only people write it";

/// Whether a path goes through, or ends in, something called as configuration is, in whatever case.
pub(crate) fn names_configuration(path: &str) -> bool {
    fold(path)
        .split('/')
        .any(|part| CONFIGURATION.contains(&part))
}

/// The same of a resolved path, of which only the part beneath `root` counts.
pub(crate) fn lies_in_configuration(real: &Path, root: &Path) -> bool {
    let below = real.strip_prefix(root).unwrap_or(real);
    names_configuration(&below.to_string_lossy())
}

#[cfg(test)]
mod tests {
    use super::*;
    use rstest::rstest;

    #[rstest]
    #[case("outfitter.toml", true)]
    #[case("sub/Outfitter.TOML", true)]
    #[case("./.outfitter/x/y", true)]
    #[case("a/.OUTFITTER", true)]
    #[case("ｏutfitter.toml", true)]
    #[case(".out\u{200b}fitter/x", true)]
    #[case("outfitter.toml.bak", false)]
    #[case("my-outfitter.toml", false)]
    #[case("outfitter/x", false)]
    #[case(".outfitter-1-2-3", false)]
    fn configuration_is_known_by_name(#[case] path: &str, #[case] configuration: bool) {
        assert_eq!(names_configuration(path), configuration, "{path}");
    }
}
