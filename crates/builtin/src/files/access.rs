//! The third gate: what a role may reach with the file tools.

use outfitter_core::{Code, FileRef, Reach, Role, ToolContext, ToolError};

use crate::FilesOptions;
use crate::args::without_nul;

/// Who may reach what. The role is taken from the context on every call, so that a call that was
/// queued or resumed is judged by what its principal is now.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FileAccess {
    admin_open: bool,
}

impl FileAccess {
    /// The gate as the configuration has it.
    #[must_use]
    pub fn new(options: &FilesOptions) -> Self {
        Self {
            admin_open: options.admin_open,
        }
    }

    /// The gate to workspaces only, whatever is opened: for files that leave for another machine.
    pub(crate) const WORKSPACE: Self = Self { admin_open: false };

    /// How far a role reaches.
    ///
    /// # Errors
    /// `not_permitted` for guests.
    pub fn reach(self, role: Role) -> Result<Reach, ToolError> {
        match role {
            Role::Guest => Err(ToolError::new(
                Code::NotPermitted,
                "guests have no access to files",
            )),
            Role::User => Ok(Reach::Workspace),
            Role::Admin if self.admin_open => Ok(Reach::Host),
            Role::Admin => Ok(Reach::Workspace),
        }
    }

    /// The file that a call names, as far as its principal reaches.
    pub(crate) fn file<'a>(
        self,
        cx: &ToolContext,
        path: &'a str,
    ) -> Result<FileRef<'a>, ToolError> {
        let reach = self.reach(cx.who.role)?;
        without_nul(path, "/path")?;
        if path.is_empty() {
            return Err(ToolError::invalid("/path", "the path is empty"));
        }
        Ok(FileRef { path, reach })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rstest::rstest;

    #[rstest]
    #[case(Role::Guest, false, None)]
    #[case(Role::Guest, true, None)]
    #[case(Role::User, false, Some(Reach::Workspace))]
    #[case(Role::User, true, Some(Reach::Workspace))]
    #[case(Role::Admin, false, Some(Reach::Workspace))]
    #[case(Role::Admin, true, Some(Reach::Host))]
    fn only_an_administrator_reaches_the_machine_and_only_where_it_is_opened(
        #[case] role: Role,
        #[case] admin_open: bool,
        #[case] reach: Option<Reach>,
    ) {
        let options = FilesOptions {
            admin_open,
            ..FilesOptions::default()
        };
        let got = FileAccess::new(&options).reach(role);
        assert_eq!(got.as_ref().ok(), reach.as_ref());
        if let Err(error) = got {
            assert_eq!(error.code(), Code::NotPermitted);
        }
    }
}
