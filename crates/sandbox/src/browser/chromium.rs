//! Chromium, held.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::Once;
use std::time::Duration;

use outfitter_core::{Cancel, chain};
use outfitter_process::{
    ChildSpec, Confined, Confinement, Level, Limits, Network, Spawned, Stdin, SupervisorProgram,
    Support, probe, spawn,
};
use tokio::sync::{OnceCell, Semaphore};

use super::devtools::DevTools;
use super::error::BrowserError;
use super::folder::Folder;
use super::tab::Tab;

/// Where Debian and others keep the program itself: the script in front of it reads what a confined
/// one may not.
const BEHIND_THE_SCRIPT: &[&str] = &[
    "/usr/lib/chromium/chromium",
    "/usr/lib64/chromium-browser/chromium-browser",
    "/opt/google/chrome/chrome",
];

/// What it is called on `PATH`.
const NAMES: &[&str] = &["chromium", "chromium-browser", "google-chrome"];

/// What it may read: programs, their libraries, and fonts.
const READ: &[&str] = &[
    "/usr",
    "/bin",
    "/lib",
    "/lib64",
    "/opt",
    "/etc/fonts",
    "/etc/alternatives",
    "/etc/ld.so.cache",
    "/etc/localtime",
    "/nix/store",
    "/gnu/store",
];

/// Where its folder is, unless somebody says otherwise.
const FOLDERS: &str = "/tmp";

/// It speaks over its descriptors 3 and 4, and a command of ours has three; so a shell puts our two
/// ends there, and what the program prints goes to its standard error.
const WITH_PIPES: &str = "exec \"$@\" 3<&0 4>&1 </dev/null >&2";

/// How long all of it may take.
const RUN_TIME: Duration = Duration::from_secs(45);

/// The most memory that all of it takes; each of its processes, where no control group can be made.
const MAX_MEMORY_BYTES: u64 = 2 << 30;

/// The largest file in its folder.
const MAX_FILE_BYTES: u64 = 256 << 20;

/// How many browsers run at once; more wait for their turn.
const AT_ONCE: usize = 2;

/// The highest picture, in pixels.
pub const MAX_PAGE_HEIGHT: u32 = 16_384;

/// The most pixels of a picture.
pub const MAX_PIXELS: u32 = 32 << 20;

/// A page, and how it is shown.
#[derive(Debug, Clone, Copy)]
pub struct Page<'a> {
    /// Its HTML. Nothing else is loaded.
    pub html: &'a str,
    /// The width of the window, in pixels; not 0.
    pub width: u32,
    /// The height of the window, in pixels; not 0.
    pub height: u32,
    /// Whether the picture is as high as the page, where that is higher than the window.
    pub full_page: bool,
}

/// A picture of a page.
#[derive(Debug, Clone)]
pub struct Shot {
    /// As PNG.
    pub png: Vec<u8>,
    /// How high the page is, where the whole of it was asked for. The picture has at most
    /// [`MAX_PAGE_HEIGHT`] and [`MAX_PIXELS`].
    pub page_height: Option<u32>,
    /// Whether its scripts were stopped because they came to no end.
    pub stopped: bool,
}

/// The Chromium of this machine.
pub struct Chromium {
    supervisor: SupervisorProgram,
    programs: Vec<PathBuf>,
    folders: PathBuf,
    /// Whether what others left there was looked for.
    swept: Once,
    support: OnceCell<Support>,
    turns: Semaphore,
}

impl Chromium {
    /// The one that is there when it is asked for: Chromium or Chrome, at its usual place or in one
    /// of the folders of `path`. `supervisor` holds it.
    #[must_use]
    pub fn usual(supervisor: SupervisorProgram, path: &str) -> Self {
        Self::one_of(supervisor, usual_programs(path))
    }

    /// The program that shows pages, where one is there now.
    #[must_use]
    pub fn program(&self) -> Option<&Path> {
        let mut programs = self.programs.iter();
        programs.find(|program| program.is_file()).map(|it| &**it)
    }

    /// The first of these programs that is there.
    #[must_use]
    pub fn one_of(supervisor: SupervisorProgram, programs: Vec<PathBuf>) -> Self {
        Self {
            supervisor,
            programs,
            folders: FOLDERS.into(),
            swept: Once::new(),
            support: OnceCell::new(),
            turns: Semaphore::new(AT_ONCE),
        }
    }

    /// Makes the folders of its browsers in this one, whose path has to be short, because each makes
    /// a local socket there. They are made in `/tmp` otherwise.
    #[must_use]
    pub fn working_in(mut self, folders: PathBuf) -> Self {
        self.folders = folders;
        self
    }

    /// Shows a page.
    ///
    /// # Errors
    /// [`BrowserError`]; then no process of it is left.
    pub async fn show(&self, page: Page<'_>, cancel: &Cancel) -> Result<Shot, BrowserError> {
        let program = self.program().ok_or(BrowserError::Missing)?;
        let level = self.level().await?;
        let _turn = tokio::select! {
            biased;
            () = cancel.cancelled() => return Err(BrowserError::Cancelled),
            // It is never closed.
            turn = self.turns.acquire() => turn,
        };
        self.swept.call_once(|| Folder::sweep(&self.folders));
        // Dropped last: what works in it has to be gone.
        let folder = Folder::new(&self.folders).map_err(BrowserError::Folder)?;
        let spawned = spawn(&self.supervisor, spec(program, level, folder.path())).await;
        let Spawned {
            mut child,
            output,
            input,
            ..
        } = spawned.map_err(BrowserError::Spawn)?;
        let Some(input) = input else {
            return Err(BrowserError::Refused("nothing to speak to".to_owned()));
        };
        let show = async {
            let mut tab = Tab::first(DevTools::new(input, output)).await?;
            tab.show(&page).await
        };
        let shown = tokio::select! {
            biased;
            () = cancel.cancelled() => Err(BrowserError::Cancelled),
            shown = tokio::time::timeout(RUN_TIME, show) => shown.unwrap_or_else(|_| {
                let seconds = RUN_TIME.as_secs();
                Err(BrowserError::Timeout { seconds })
            }),
        };
        // There is nothing in it that would have to be saved.
        child
            .kill(Duration::ZERO)
            .await
            .map_err(BrowserError::Child)?;
        shown
    }

    async fn level(&self) -> Result<Level, BrowserError> {
        let support = self.support.get_or_try_init(|| probe(&self.supervisor));
        let support = support
            .await
            .map_err(|error| BrowserError::Unheld(chain(&error)))?;
        match support.level {
            Level::None => Err(BrowserError::Unheld(support.reasons.join("; "))),
            level @ (Level::Partial | Level::Full) => Ok(level),
        }
    }
}

fn usual_programs(path: &str) -> Vec<PathBuf> {
    let usual = BEHIND_THE_SCRIPT.iter().map(PathBuf::from);
    let folders = path.split(':').filter(|folder| folder.starts_with('/'));
    let named =
        folders.flat_map(|folder| NAMES.iter().map(move |name| Path::new(folder).join(name)));
    usual.chain(named).collect()
}

fn spec(program: &Path, level: Level, folder: &Path) -> ChildSpec {
    let mut argv: Vec<OsString> = ["/bin/sh", "-c", WITH_PIPES, "sh"].map(Into::into).to_vec();
    argv.push(program.into());
    argv.extend(
        [
            "--headless",
            "--remote-debugging-pipe",
            // Ours holds it; its own needs rights that nothing held has.
            "--no-sandbox",
            "--disable-gpu",
            "--disable-dev-shm-usage",
            "--disable-quic",
            "--disable-background-networking",
            "--disable-component-update",
            "--disable-default-apps",
            "--disable-extensions",
            "--disable-sync",
            "--disable-breakpad",
            "--no-first-run",
            "--no-default-browser-check",
            "--no-pings",
            "--mute-audio",
            "--hide-scrollbars",
            "--force-device-scale-factor=1",
            // Refused at once instead of after a search.
            "--host-resolver-rules=MAP * ~NOTFOUND",
        ]
        .map(OsString::from),
    );
    let mut profile = OsString::from("--user-data-dir=");
    profile.push(folder.join("profile"));
    argv.push(profile);
    argv.push("about:blank".into());
    let home: OsString = folder.into();
    ChildSpec {
        argv,
        env: vec![
            ("HOME".into(), home.clone()),
            ("TMPDIR".into(), home),
            ("PATH".into(), "/usr/bin:/bin".into()),
            ("LANG".into(), "C.UTF-8".into()),
        ],
        cwd: folder.to_owned(),
        stdin: Stdin::Pipe,
        confinement: Confinement::Confined(Confined {
            level,
            network: Network::Alone,
            write: vec![folder.to_owned()],
            read: READ.iter().map(PathBuf::from).collect(),
            fixed: Vec::new(),
            hide: Vec::new(),
            private: Vec::new(),
            blank: Vec::new(),
        }),
        limits: Limits {
            memory_bytes: Some(MAX_MEMORY_BYTES),
            file_bytes: MAX_FILE_BYTES,
            ..Limits::DEFAULT
        },
    }
}
