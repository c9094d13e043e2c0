//! Toolchains that lie in a home directory, or that a variable names, work as they are found on
//! `PATH`: real programs, laid out as their installers lay them out.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};

use rstest::rstest;

use super::kit::{Backend, Finished, Identity, World, bwrap_is_there, run_in, say, testkit};

/// A home for one test, and what is on `PATH`.
struct Home {
    world: World,
    home: PathBuf,
    path: String,
    more: Vec<(&'static str, PathBuf)>,
}

impl Home {
    fn new() -> Self {
        let world = World::new();
        let home = world.workspace.parent().unwrap().join("home");
        fs::create_dir(&home).unwrap();
        Self {
            world,
            home,
            path: "/usr/bin:/bin".to_owned(),
            more: Vec::new(),
        }
    }

    /// A directory of the home in front of `PATH`.
    fn on_path(&mut self, dir: &str) -> PathBuf {
        let dir = self.home.join(dir);
        fs::create_dir_all(&dir).unwrap();
        self.path = format!("{}:{}", dir.display(), self.path);
        dir
    }

    fn run(&self, backend: Backend, line: &str) -> Finished {
        let mut command = testkit(Identity::Ourselves).unwrap();
        command
            .env_clear()
            .env("HOME", &self.home)
            .env("PATH", &self.path)
            .envs(self.more.iter().map(|(name, value)| (name, value)));
        run_in(
            command,
            backend,
            (&self.world.workspace, &self.world.data),
            line,
        )
    }

    /// That a line says this inside, and outside too.
    #[track_caller]
    fn says(&self, backend: Backend, line: &str, expected: &str) {
        let outside = self.run(Backend::Passthrough, line);
        assert_eq!(outside.stdout, expected, "the row is broken: {outside:?}");
        let files = fs::read_dir(&self.world.workspace).unwrap().flatten();
        for file in files.filter(|file| file.path().is_file()) {
            fs::remove_file(file.path()).unwrap();
        }
        let inside = self.run(backend, line);
        assert_eq!(inside.stdout, expected, "{inside:?}");
        assert!(inside.succeeded(), "{inside:?}");
    }
}

/// Where a program really is; says so where there is none.
fn real(program: &str, word: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let found = std::env::split_paths(&path)
        .map(|dir| dir.join(program))
        // A shim is a script that looks for the program by a home that is not this test's.
        .filter(|path| !path.to_string_lossy().contains("/shims/"))
        .find_map(|path| path.canonicalize().ok().filter(|real| real.is_file()));
    if found.is_none() {
        say(&format!(
            "SKIPPED({word}): there is no {program} on PATH here"
        ));
    }
    found
}

fn is_there(backend: Backend) -> bool {
    backend != Backend::Bwrap || bwrap_is_there()
}

fn copied(from: &Path, to: &Path) {
    fs::create_dir_all(to.parent().unwrap()).unwrap();
    fs::copy(from, to).unwrap();
    fs::set_permissions(to, fs::Permissions::from_mode(0o755)).unwrap();
}

/// Built without its library, which takes most of the time of a first build.
const GO: &str = "printf 'module hello\\n\\ngo 1.19\\n' > go.mod; \
    printf 'package main\\n\\nfunc main() { println(\"from go\") }\\n' > main.go; \
    go build -o hello . && ./hello 2>&1";

#[rstest]
fn a_go_on_path_builds(
    #[values(Backend::Local, Backend::Partial, Backend::Bwrap)] backend: Backend,
) {
    let Some(go) = real("go", "go") else { return };
    if !is_there(backend) {
        return;
    }
    let mut home = Home::new();
    // As `go install golang.org/dl/…` leaves it, but for what lies behind the link.
    let bin = home.on_path("go/bin");
    symlink(&go, bin.join("go")).unwrap();
    home.says(backend, GO, "from go\n");
    // And where a variable names it.
    let mut named = Home::new();
    let root = go.parent().and_then(Path::parent).unwrap().to_owned();
    if root.join("pkg/tool").is_dir() && root.join("VERSION").is_file() {
        named.more.push(("GOROOT", root.clone()));
        let line = "go env GOROOT; echo $GOROOT";
        named.says(backend, line, &format!("{0}\n{0}\n", root.display()));
    }
}

const JAVA: &str = "printf 'public class Hello { public static void main(String[] a) { \
    System.out.println(\"from java\"); } }' > Hello.java; javac Hello.java && java Hello";

#[rstest]
fn a_jdk_on_path_compiles_and_runs(
    #[values(Backend::Local, Backend::Partial, Backend::Bwrap)] backend: Backend,
) {
    let Some(java) = real("javac", "jdk") else {
        return;
    };
    if !is_there(backend) {
        return;
    }
    let mut home = Home::new();
    home.says(backend, JAVA, "from java\n");
    // As SDKMAN has it: the version in use is a link.
    let base = java.parent().and_then(Path::parent).unwrap();
    let candidates = home.home.join(".sdkman/candidates/java");
    fs::create_dir_all(&candidates).unwrap();
    symlink(base, candidates.join("current")).unwrap();
    home.on_path(".sdkman/candidates/java/current/bin");
    home.more.push(("JAVA_HOME", base.to_owned()));
    let line = format!("{JAVA} && \"$JAVA_HOME/bin/java\" Hello && command -v java");
    let which = candidates.join("current/bin/java");
    let expected = format!("from java\nfrom java\n{}\n", which.display());
    home.says(backend, &line, &expected);
}

#[rstest]
fn a_node_of_nvm_runs(
    #[values(Backend::Local, Backend::Partial, Backend::Bwrap)] backend: Backend,
) {
    let Some(node) = real("node", "nvm") else {
        return;
    };
    if !is_there(backend) {
        return;
    }
    let mut home = Home::new();
    let bin = home.on_path(".nvm/versions/node/v20.0.0/bin");
    copied(&node, &bin.join("node"));
    fs::create_dir_all(home.home.join(".nvm/alias")).unwrap();
    fs::write(home.home.join(".nvm/alias/secret"), "kept").unwrap();
    let line = "node -e 'console.log(process.execPath, require(\"fs\").readdirSync(\".\").length)'";
    let expected = format!("{} 0\n", bin.join("node").display());
    home.says(backend, line, &expected);
    let beside = home.run(
        backend,
        "cat \"$(dirname \"$(command -v node)\")/../../../../alias/secret\"",
    );
    assert!(!beside.stdout.contains("kept"), "{beside:?}");
}

#[rstest]
fn a_uv_of_the_home_makes_an_environment(
    #[values(Backend::Local, Backend::Partial, Backend::Bwrap)] backend: Backend,
) {
    let Some(uv) = real("uv", "uv") else { return };
    if !is_there(backend) {
        return;
    }
    let mut home = Home::new();
    let bin = home.on_path(".local/bin");
    copied(&uv, &bin.join("uv"));
    let line = "uv venv -q --offline --clear --python /usr/bin/python3 made && \
        made/bin/python -c 'import sys; print(sys.prefix != sys.base_prefix)'";
    home.says(backend, line, "True\n");
}

/// A Python that uv has installed is a link in `~/.local/bin` into what uv keeps. What else uv keeps
/// there can be read but for its credentials.
#[rstest]
fn what_uv_has_installed_runs_and_its_credentials_stay(
    #[values(Backend::Local, Backend::Partial, Backend::Bwrap)] backend: Backend,
) {
    if real("python3", "program").is_none() || !is_there(backend) {
        return;
    }
    let mut home = Home::new();
    let bin = home.on_path(".local/bin");
    let kept = home.home.join(".local/share/uv");
    let made = ["-m", "venv", "--without-pip"].map(str::to_owned);
    let tool = kept.join("tools/ruffled");
    make_venv(&home, &made, &tool);
    fs::write(
        tool.join("bin/ruffled"),
        format!("#!{}/bin/python3\nprint('from uv')\n", tool.display()),
    )
    .unwrap();
    fs::set_permissions(tool.join("bin/ruffled"), fs::Permissions::from_mode(0o755)).unwrap();
    symlink(tool.join("bin/ruffled"), bin.join("ruffled")).unwrap();
    fs::create_dir_all(kept.join("credentials")).unwrap();
    fs::write(kept.join("credentials/token"), "sentinel").unwrap();
    home.says(backend, "ruffled", "from uv\n");
    let line = format!("cat {}/credentials/token", kept.display());
    let read = home.run(backend, &line);
    assert!(!read.stdout.contains("sentinel"), "{read:?}");
}

#[rstest]
fn what_pipx_has_installed_runs(
    #[values(Backend::Local, Backend::Partial, Backend::Bwrap)] backend: Backend,
    #[values(".local/share/pipx/venvs", ".local/pipx/venvs")] place: &str,
) {
    if real("python3", "program").is_none() || !is_there(backend) {
        return;
    }
    let mut home = Home::new();
    let bin = home.on_path(".local/bin");
    let made = ["-m", "venv", "--without-pip"].map(str::to_owned);
    let venv = home.home.join(place).join("hello");
    make_venv(&home, &made, &venv);
    let script = venv.join("bin/hello");
    let text = format!(
        "#!{}/bin/python3\nimport sys\nprint('from pipx', sys.prefix != sys.base_prefix)\n",
        venv.display()
    );
    fs::write(&script, text).unwrap();
    fs::set_permissions(&script, fs::Permissions::from_mode(0o755)).unwrap();
    symlink(&script, bin.join("hello")).unwrap();
    home.says(backend, "hello", "from pipx True\n");
}

/// A real virtual environment, made outside as an installer does.
#[track_caller]
fn make_venv(home: &Home, words: &[String], place: &Path) {
    fs::create_dir_all(place.parent().unwrap()).unwrap();
    let line = format!("/usr/bin/python3 {} {}", words.join(" "), place.display());
    let made = home.run(Backend::Passthrough, &line);
    assert!(made.succeeded(), "{made:?}");
}
