//! A glob against the paths of a call.

use unicode_normalization::UnicodeNormalization as _;

/// Whether every path, as it is written, is one that some pattern means.
pub(super) fn all(patterns: &[&str], paths: &[String], root: &str) -> bool {
    let wanted: Vec<Vec<String>> = patterns.iter().map(|pattern| parts(pattern, "")).collect();
    let each = |path: &String| {
        let at = relative(&parts(path, root), &parts(root, ""));
        wanted.iter().any(|wanted| matches(wanted, &at))
    };
    !paths.is_empty() && paths.iter().all(each)
}

/// Whether the pattern means some path, in any way to spell it: with other dots, letters in the
/// other case, or other code points for the same letter. A pattern without a slash means a file or
/// folder of that name anywhere; a folder is meant with all that is in it.
pub(super) fn any(pattern: &str, paths: &[String], root: &str) -> bool {
    let fold = |text: &str| {
        text.nfkc()
            .flat_map(char::to_lowercase)
            .nfkc()
            .collect::<String>()
    };
    let root = parts(&fold(root), "");
    let root_text = root.join("/");
    let anywhere = !pattern.contains('/');
    let wanted = parts(&fold(&home(pattern)), "");
    paths.iter().any(|path| {
        let full = parts(&fold(&home(path)), &root_text);
        let near = relative(&full, &root);
        let begins = |at: &[String]| (1..=at.len()).any(|end| matches(&wanted, &at[..end]));
        if anywhere {
            near.iter()
                .any(|part| matches(&wanted, std::slice::from_ref(part)))
        } else {
            begins(&near) || begins(&full)
        }
    })
}

/// The home folder, however it is written.
fn home(path: &str) -> String {
    let short = ["$HOME", "${HOME}"]
        .iter()
        .find_map(|name| path.strip_prefix(name));
    let path = short.map_or_else(|| path.to_owned(), |rest| format!("~{rest}"));
    // An absolute path of its own to everything that follows: not below the workspace.
    if path.starts_with("~/") {
        format!("/{path}")
    } else {
        path
    }
}

/// The names on the way to a path, without dots.
fn parts(path: &str, root: &str) -> Vec<String> {
    let before = if path.starts_with('/') { "" } else { root };
    let mut parts = Vec::new();
    for part in before.split('/').chain(path.split('/')) {
        match part {
            "" | "." => {}
            ".." => drop(parts.pop()),
            part => parts.push(part.to_owned()),
        }
    }
    parts
}

fn relative(full: &[String], root: &[String]) -> Vec<String> {
    full.strip_prefix(root).unwrap_or(full).to_vec()
}

/// Whether names fit globs: `**` stands for any number of names, `*` and `?` stand within one.
fn matches(globs: &[String], names: &[String]) -> bool {
    // Row by row: which numbers of names the globs so far can stand for.
    let mut reached = vec![false; names.len() + 1];
    reached[0] = true;
    for glob in globs {
        let mut next = vec![false; names.len() + 1];
        for at in 0..=names.len() {
            if glob == "**" {
                next[at] = reached[at] || at > 0 && next[at - 1];
            } else if at > 0 && reached[at - 1] {
                next[at] = outfitter_core::Pattern::new(glob.as_str()).matches(&names[at - 1]);
            }
        }
        reached = next;
    }
    reached[names.len()]
}
