//! What a server offers, kept for when it is not running, by the rule of all sources.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt as _;

use outfitter_core::{Hash, KeptSpecs, SpecKey, keep_specs, specs_difference};
use outfitter_process::OnDisk;
use serde_json::Value;

use super::listing::{Listed, RemoteTool};
use super::server::StdioServer;

/// Which server it is: what it is started as, with this environment beside its own, and its files as
/// they are on disk now.
pub(crate) fn key(server: &StdioServer, env: &[(OsString, OsString)]) -> Hash {
    let args: Vec<&[u8]> = server.args.iter().map(|arg| arg.as_bytes()).collect();
    let mut names: Vec<&[u8]> = server.env.iter().map(|(name, _)| name.as_bytes()).collect();
    names.sort_unstable();
    SpecKey::of(env!("CARGO_PKG_VERSION"), server.name.as_str())
        .with(server.command.as_bytes())
        .with(server.cwd.as_os_str().as_bytes())
        .with_all(&args)
        .with_all(&names)
        .with_all(&on_disk(server, env).facts())
        .finish()
}

/// What it is started as, with this environment beside its own.
pub(crate) fn on_disk<'s>(server: &'s StdioServer, env: &'s [(OsString, OsString)]) -> OnDisk<'s> {
    let mut all = server.env.iter().chain(env);
    let search = all.find(|(name, _)| name == "PATH");
    OnDisk {
        program: &server.command,
        args: &server.args,
        search: search.map_or(OsStr::new(""), |(_, path)| path),
        dir: Some(&server.cwd),
    }
}

/// What is kept of these tools; nothing where they are too many for it.
pub(crate) fn write(key: &Hash, tools: &[RemoteTool]) -> Option<Vec<u8>> {
    let tools: Vec<Value> = tools.iter().map(RemoteTool::as_listed).collect();
    keep_specs(key, &Value::Array(tools))
}

/// What was kept, if it was of this server: one tool at a time, within the bounds of a list that it
/// gives now. That it had no tools is not worth keeping: no call could ever start it to ask again.
pub(crate) fn read(bytes: &[u8], key: &Hash, server: &StdioServer) -> Option<Listed> {
    listed(KeptSpecs::read(bytes)?.of(key)?, server)
}

/// What was kept under its name, whatever has become of it.
pub(crate) fn read_last(bytes: &[u8], server: &StdioServer) -> Option<Listed> {
    listed(KeptSpecs::read(bytes)?.specs, server)
}

fn listed(specs: Value, server: &StdioServer) -> Option<Listed> {
    match specs {
        Value::Array(tools) => {
            Some(Listed::of(tools, server)).filter(|listed| !listed.tools.is_empty())
        }
        _ => None,
    }
}

/// How the tools of a server differ from those that were kept of it; none where they do not.
pub(crate) fn difference(kept: &[RemoteTool], now: &[RemoteTool]) -> Option<String> {
    fn named(tools: &[RemoteTool]) -> Vec<(&str, &RemoteTool)> {
        let tools = tools.iter();
        tools.map(|tool| (tool.name.as_str(), tool)).collect()
    }
    specs_difference(&named(kept), &named(now))
}

#[cfg(test)]
mod tests {
    use super::*;
    use outfitter_core::{NameSet, SourceId};
    use serde_json::json;

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
        let bytes = write(&key(&server, &[]), &kept).unwrap();
        assert_eq!(
            read(&bytes, &key(&server, &[]), &server).unwrap().tools,
            kept
        );
        // Another filter is another view of the same.
        let mut fewer = server.clone();
        fewer.tools = NameSet::of(["l*"]);
        let listed = read(&bytes, &key(&fewer, &[]), &fewer).unwrap();
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
            assert!(read(&bytes, &key(&other, &[]), &other).is_none());
        }
        let mut secret = server.clone();
        secret.env.push(("KEY".into(), "one".into()));
        let one = key(&secret, &[]);
        secret.env[0].1 = "two".into();
        assert_eq!(
            one,
            key(&secret, &[]),
            "the value of a secret is none of it"
        );
    }

    #[test]
    fn what_was_kept_of_a_server_counted_after_it_was_replaced_by_another_version() {
        let dir = tempfile::tempdir().unwrap();
        let name = SourceId::new("notes").unwrap();
        let server = StdioServer::new(name, "python3", dir.path()).args(["server.py"]);
        std::fs::write(dir.path().join("server.py"), "1").unwrap();
        let before = key(&server, &[]);
        assert_eq!(before, key(&server, &[]));
        std::fs::write(dir.path().join("server.py"), "22").unwrap();
        assert_ne!(before, key(&server, &[]));
    }

    #[test]
    fn what_is_kept_is_as_untrusted_as_what_is_listed() {
        let server = server();
        let key = key(&server, &[]);
        let odd = json!([
            7, {"name": "a"}, {"name": "b", "inputSchema": {"type": "string"}},
            {"name": "fine", "inputSchema": {}}, {"name": "fine", "inputSchema": {}},
        ]);
        let listed = read(&keep_specs(&key, &odd).unwrap(), &key, &server).unwrap();
        assert_eq!((listed.tools.len(), listed.faults.len()), (1, 4));
        for none in [json!(7), json!([]), json!(null)] {
            assert!(read(&keep_specs(&key, &none).unwrap(), &key, &server).is_none());
        }
    }

    #[test]
    fn a_lazy_server_that_listed_nothing_once_could_never_start_again() {
        let server = server();
        let key = key(&server, &[]);
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
    }
}
