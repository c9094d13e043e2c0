//! What a server offers, kept for when it is not running.
//!
//! What is kept came from the server and is read as if it came from there now: one tool at a time,
//! within the same bounds.

use std::os::unix::ffi::OsStrExt as _;

use outfitter_core::{Hash, Hashing};
use serde_json::{Value, json};

use super::listing::{Listed, RemoteTool};
use super::server::StdioServer;

/// The most that is kept of one server, in bytes.
pub const MAX_SPECS_BYTES: usize = 16 * 1024 * 1024;

/// The form of what is kept. Another form is not read.
const FORM: u64 = 1;

/// Where what servers offer is kept, for those that are started at their first call. One that keeps
/// nothing is no error: then the server is asked.
pub trait SpecCache: Send + Sync {
    /// What was kept last of the server of this name; at most [`MAX_SPECS_BYTES`] of it are read.
    fn load(&self, server: &str) -> Option<Vec<u8>>;

    /// Keeps this of the server of this name, in the place of what was kept. Failing is for the log
    /// of operators.
    fn keep(&self, server: &str, specs: &[u8]);
}

/// Which server it is: what it is started as, by which version of ours. What was kept of another is
/// worth nothing. Values of the environment are left out, as they may be secrets that change.
pub(crate) fn key(server: &StdioServer) -> Hash {
    let mut hashing = Hashing::new();
    let mut piece = |bytes: &[u8]| {
        hashing.update(bytes.len().to_le_bytes());
        hashing.update(bytes);
    };
    piece(env!("CARGO_PKG_VERSION").as_bytes());
    piece(server.name.as_str().as_bytes());
    piece(server.command.as_bytes());
    piece(server.cwd.as_os_str().as_bytes());
    piece(&server.args.len().to_le_bytes());
    for arg in &server.args {
        piece(arg.as_bytes());
    }
    let mut names: Vec<&[u8]> = server.env.iter().map(|(name, _)| name.as_bytes()).collect();
    names.sort_unstable();
    for name in names {
        piece(name);
    }
    hashing.finish()
}

/// What is kept of these tools; nothing where they are too many for it.
pub(crate) fn write(key: &Hash, tools: &[RemoteTool]) -> Option<Vec<u8>> {
    let tools: Vec<Value> = tools.iter().map(RemoteTool::as_listed).collect();
    let kept = json!({ "form": FORM, "key": key.to_string(), "tools": tools });
    let bytes = kept.to_string().into_bytes();
    (bytes.len() <= MAX_SPECS_BYTES).then_some(bytes)
}

/// What was kept, if it was of this server. That it had no tools is not worth keeping: no call could
/// ever start it to ask again.
pub(crate) fn read(bytes: &[u8], key: &Hash, server: &StdioServer) -> Option<Listed> {
    if bytes.len() > MAX_SPECS_BYTES {
        return None;
    }
    let mut kept: Value = serde_json::from_slice(bytes).ok()?;
    let same = kept["form"] == FORM && kept["key"] == key.to_string();
    match kept.get_mut("tools").map(Value::take) {
        Some(Value::Array(tools)) if same => {
            Some(Listed::of(tools, server)).filter(|listed| !listed.tools.is_empty())
        }
        _ => None,
    }
}

/// How the tools of a server differ from those that were kept of it; none where they do not.
pub(crate) fn difference(kept: &[RemoteTool], now: &[RemoteTool]) -> Option<String> {
    const MOST_NAMED: usize = 10;
    let find = |tools: &[RemoteTool], name: &str| tools.iter().position(|tool| tool.name == name);
    let names = |mut names: Vec<&str>| {
        let more = names.len().saturating_sub(MOST_NAMED);
        names.truncate(MOST_NAMED);
        let named = names.join(", ");
        match more {
            0 => named,
            more => format!("{named} and {more} more"),
        }
    };
    let of = |tools: &[RemoteTool], wanted: &dyn Fn(&RemoteTool) -> bool| {
        let found = tools.iter().filter(|tool| wanted(tool));
        names_of(found)
    };
    let added = of(now, &|tool| find(kept, &tool.name).is_none());
    let gone = of(kept, &|tool| find(now, &tool.name).is_none());
    let other = of(now, &|tool| {
        find(kept, &tool.name).is_some_and(|at| kept[at] != *tool)
    });
    let mut words = Vec::new();
    for (what, found) in [("new", added), ("gone", gone), ("changed", other)] {
        if !found.is_empty() {
            let found: Vec<&str> = found.iter().map(String::as_str).collect();
            words.push(format!("{what}: {}", names(found)));
        }
    }
    (!words.is_empty()).then(|| words.join("; "))
}

fn names_of<'t>(tools: impl Iterator<Item = &'t RemoteTool>) -> Vec<String> {
    tools.map(|tool| tool.name.clone()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use outfitter_core::{NameSet, SourceId};

    fn server() -> StdioServer {
        let name = SourceId::new("notes").unwrap();
        StdioServer::new(name, "notes", "/").args(["--file", "a"])
    }

    fn tools(server: &StdioServer, names: &[&str]) -> Vec<RemoteTool> {
        let tools = names
            .iter()
            .map(|name| json!({"name": name, "description": "d", "inputSchema": {"properties": {"a": {}}}, "outputSchema": {"type": "object"}}))
            .collect();
        Listed::of(tools, server).tools
    }

    #[test]
    fn what_is_kept_reads_back_for_the_same_server_only() {
        let server = server();
        let kept = tools(&server, &["add", "list"]);
        let bytes = write(&key(&server), &kept).unwrap();
        assert_eq!(read(&bytes, &key(&server), &server).unwrap().tools, kept);
        // Another filter is another view of the same.
        let mut fewer = server.clone();
        fewer.tools = NameSet::of(["l*"]);
        let listed = read(&bytes, &key(&fewer), &fewer).unwrap();
        assert_eq!(listed.tools.len(), 1);
        let changes: [fn(&mut StdioServer); 5] = [
            |server| server.command = "other".into(),
            |server| server.args.push("b".into()),
            |server| server.args = vec!["--filea".into()],
            |server| server.cwd = "/tmp".into(),
            |server| server.env.push(("KEY".into(), "v".into())),
        ];
        for change in changes {
            let mut other = server.clone();
            change(&mut other);
            assert!(read(&bytes, &key(&other), &other).is_none());
        }
        let mut secret = server.clone();
        secret.env.push(("KEY".into(), "one".into()));
        let one = key(&secret);
        secret.env[0].1 = "two".into();
        assert_eq!(one, key(&secret), "the value of a secret is none of it");
    }

    #[test]
    fn what_is_kept_is_as_untrusted_as_what_is_listed() {
        let server = server();
        let key = key(&server);
        for bytes in [
            &b""[..],
            b"{",
            b"[]",
            b"{\"form\":1}",
            b"\xff\xff",
            b"{\"form\":1,\"tools\":7}",
        ] {
            assert!(read(bytes, &key, &server).is_none());
        }
        let odd = json!({ "form": FORM, "key": key.to_string(), "tools": [
            7, {"name": "a"}, {"name": "b", "inputSchema": {"type": "string"}},
            {"name": "fine", "inputSchema": {}}, {"name": "fine", "inputSchema": {}},
        ] });
        let listed = read(odd.to_string().as_bytes(), &key, &server).unwrap();
        assert_eq!((listed.tools.len(), listed.faults.len()), (1, 4));
        let future = json!({ "form": 2, "key": key.to_string(), "tools": [] });
        assert!(read(future.to_string().as_bytes(), &key, &server).is_none());
    }

    #[test]
    fn a_lazy_server_that_listed_nothing_once_could_never_start_again() {
        let server = server();
        let key = key(&server);
        let none = write(&key, &[]).unwrap();
        assert!(read(&none, &key, &server).is_none());
        // The same where all that was kept is filtered out, or is no tool.
        let kept = write(&key, &tools(&server, &["add"])).unwrap();
        let mut filtered = server.clone();
        filtered.tools = NameSet::of(["other"]);
        assert!(read(&kept, &key, &filtered).is_none());
        assert!(read(&kept, &key, &server).is_some());
    }

    #[test]
    fn what_differs_is_named() {
        let server = server();
        let kept = tools(&server, &["a", "b", "c"]);
        assert_eq!(difference(&kept, &kept), None);
        let mut now = tools(&server, &["b", "c", "d"]);
        now[1].description = "another".to_owned();
        assert_eq!(
            difference(&kept, &now).as_deref(),
            Some("new: d; gone: a; changed: c")
        );
        let many: Vec<String> = (0..15).map(|n| format!("t{n}")).collect();
        let many: Vec<&str> = many.iter().map(String::as_str).collect();
        let told = difference(&[], &tools(&server, &many)).unwrap();
        assert!(told.ends_with("t9 and 5 more"), "{told}");
    }
}
