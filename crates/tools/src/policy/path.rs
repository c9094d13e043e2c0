//! A glob against the paths of a call.
//!
//! A path is judged by its text and by what it leads to: through links, and to the very file where
//! that is known by another name. Where it cannot be told what a path leads to, it may be what any
//! pattern means.

use std::path::Path;

use outfitter_core::{KnownPaths, LeadsTo, Pattern};
use outfitter_text::is_invisible;
use unicode_normalization::UnicodeNormalization as _;

use super::Fit;

/// The paths of a call, in every form that rules meet them.
pub(super) struct Paths<'c> {
    known: &'c KnownPaths,
    root: Vec<String>,
    home: Option<&'c str>,
    each: Vec<Seen<'c>>,
}

struct Seen<'c> {
    written: &'c str,
    /// Its names, as they are written.
    exact: Vec<String>,
    real: Real,
}

/// What a path leads to.
enum Real {
    /// No other path.
    Same,
    /// The path of these names.
    Other(Vec<String>),
    Unknown,
}

impl<'c> Paths<'c> {
    pub(super) fn of(paths: &'c [String], workspace: &'c Path, known: &'c KnownPaths) -> Self {
        let root_text = workspace.to_str().unwrap_or("");
        let home = known.home().map(|home| home.trim_end_matches('/'));
        let seen = |path: &'c String| {
            let exact = parts(&at_home(path, home), root_text);
            let real = match known.leads_to(path) {
                LeadsTo::Path(real) => match parts(real, "") {
                    real if real == exact => Real::Same,
                    real => Real::Other(real),
                },
                LeadsTo::Itself => Real::Same,
                LeadsTo::Unknown => Real::Unknown,
            };
            Seen {
                written: path,
                exact,
                real,
            }
        };
        let each = paths.iter().map(seen).collect();
        Self {
            known,
            root: parts(root_text, ""),
            home,
            each,
        }
    }

    /// Whether a pattern allows this one path of the call.
    pub(super) fn allowed(&self, pattern: &str, path: &str) -> bool {
        self.each
            .iter()
            .any(|seen| seen.written == path && self.allows(pattern, seen))
    }

    /// The paths, as they are written.
    pub(super) fn written(&self) -> impl Iterator<Item = &str> {
        self.each.iter().map(|seen| seen.written)
    }

    fn allows(&self, pattern: &str, seen: &Seen<'_>) -> bool {
        let wanted = parts(&at_home(pattern, self.home), "");
        let fits = |names: &Vec<String>| matches(&wanted, &relative(names, &self.root));
        fits(&seen.exact)
            && match &seen.real {
                Real::Same => true,
                Real::Other(real) => fits(real),
                Real::Unknown => false,
            }
    }

    /// How surely the pattern means some path, in any way to spell it: with other dots, letters in
    /// the other case, other code points for the same letter, characters that show nothing, through
    /// a link, or as another name of the same file. A pattern without a slash means a file or
    /// folder of that name anywhere; a folder is meant with all that is in it.
    pub(super) fn any(&self, pattern: &str) -> Fit {
        let each = self.each.iter().map(|seen| self.means(pattern, seen));
        each.max().unwrap_or(Fit::No)
    }

    /// The same for this one path of the call.
    pub(super) fn meant(&self, pattern: &str, path: &str) -> Fit {
        let each = self.each.iter().filter(|seen| seen.written == path);
        let each = each.map(|seen| self.means(pattern, seen));
        each.max().unwrap_or(Fit::No)
    }

    fn means(&self, pattern: &str, seen: &Seen<'_>) -> Fit {
        let text = at_home(pattern, self.home);
        let root: Vec<String> = self.root.iter().map(|part| fold(part)).collect();
        let anywhere = !pattern.contains('/');
        let literal = is_literal(pattern);
        let mut wanted = vec![folded(&parts(&text, ""))];
        // The operator may have named a link.
        if let (true, LeadsTo::Path(real)) = (literal, self.known.leads_to(pattern)) {
            wanted.push(folded(&parts(real, "")));
        }
        let other = match &seen.real {
            Real::Other(real) => Some(real),
            Real::Same | Real::Unknown => None,
        };
        let forms = std::iter::once(&seen.exact).chain(other);
        let by_name = forms.map(|names| folded(names)).any(|full| {
            let near = relative(&full, &root);
            let begins = |at: &[String]| {
                (1..=at.len()).any(|end| wanted.iter().any(|wanted| matches(wanted, &at[..end])))
            };
            if anywhere {
                let one = |part| matches(&wanted[0], std::slice::from_ref(part));
                near.iter().any(one) || begins(&full)
            } else {
                begins(&near) || begins(&full)
            }
        });
        if by_name || literal && self.known.is_same(pattern, seen.written) {
            return Fit::Yes;
        }
        match &seen.real {
            Real::Same | Real::Other(_) => Fit::No,
            Real::Unknown => Fit::Maybe,
        }
    }
}

/// Whether a pattern names one path, of which it can be looked up what it leads to.
pub(super) fn is_literal(pattern: &str) -> bool {
    !pattern.contains(['*', '?'])
}

fn folded(names: &[String]) -> Vec<String> {
    names.iter().map(|name| fold(name)).collect()
}

/// One form for all spellings of a name.
pub(super) fn fold(text: &str) -> String {
    text.nfkc()
        .filter(|c| !is_invisible(*c))
        .flat_map(char::to_lowercase)
        .nfkc()
        .collect()
}

/// A path with the home folder in it as an absolute one. Where the home is not known, as one of
/// its own to everything that follows.
fn at_home(path: &str, home: Option<&str>) -> String {
    let rest = ["~", "$HOME", "${HOME}"]
        .iter()
        .find_map(|word| path.strip_prefix(word));
    match rest {
        Some(rest) if rest.is_empty() || rest.starts_with('/') => {
            format!("{}{rest}", home.unwrap_or("/~"))
        }
        Some(_) | None => path.to_owned(),
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
                next[at] = Pattern::new(glob.as_str()).matches(&names[at - 1]);
            }
        }
        reached = next;
    }
    reached[names.len()]
}
