//! The hunks of one file on its text: all of them, or none.

use super::find::find;
use super::model::{Hunk, Kind, Line};

/// How many places an error names.
const MAX_PLACES: usize = 3;

/// A text that was changed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Applied {
    /// The text.
    pub text: String,
    /// Lines added.
    pub additions: u64,
    /// Lines removed.
    pub deletions: u64,
}

/// Why a hunk does not fit.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the hunk at line {hunk} of the patch {why}")]
pub struct Misfit {
    /// Where the hunk begins in the patch, from 1.
    pub hunk: usize,
    /// Why.
    pub why: Why,
}

/// Why a hunk does not fit.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Why {
    /// Its lines do not stand in the text.
    #[error("does not fit: its lines are not in the file")]
    NotFound {
        /// The nearest place: its line in the text, what the hunk has there, and what the text has.
        nearest: Option<(u64, String, String)>,
    },
    /// Its lines stand only before those of the hunk before it.
    #[error("does not fit: its lines are at line {line}, before those of an earlier hunk")]
    OutOfOrder {
        /// Where.
        line: u64,
    },
    /// Its lines stand in more than one place.
    #[error("fits in more than one place")]
    Ambiguous {
        /// The first few, lines of the text from 1.
        places: Vec<u64>,
        /// How many there are.
        count: usize,
    },
    /// A line that is to stand before it does not.
    #[error("does not fit: there is no line {anchor:?}")]
    NoAnchor {
        /// The line.
        anchor: String,
    },
}

/// Applies hunks, which stand in the order of the text.
///
/// # Errors
/// [`Misfit`] for the first hunk that does not fit.
pub fn apply(text: &str, hunks: &[Hunk]) -> Result<Applied, Misfit> {
    let returns = hunks
        .iter()
        .flat_map(|hunk| &hunk.lines)
        .any(|line| line.text.ends_with('\r'));
    // A carriage return in the patch is part of a line if that fits, else of its writing.
    if returns && let Ok(applied) = Text::of(text, Returns::Kept).apply(hunks) {
        return Ok(applied);
    }
    let hunks: Vec<Hunk> = hunks.iter().map(without_returns).collect();
    Text::of(text, Returns::OfEndings).apply(&hunks)
}

fn without_returns(hunk: &Hunk) -> Hunk {
    let line = |line: &Line| Line {
        text: line
            .text
            .strip_suffix('\r')
            .unwrap_or(&line.text)
            .to_owned(),
        ..line.clone()
    };
    Hunk {
        lines: hunk.lines.iter().map(line).collect(),
        ..hunk.clone()
    }
}

/// What a carriage return at the end of a line is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Returns {
    /// Part of the line.
    Kept,
    /// Part of the line's end.
    OfEndings,
}

/// A text as lines and their ends.
struct Text<'a> {
    lines: Vec<&'a str>,
    ends: Vec<&'a str>,
}

/// A line of the result.
struct Made<'a> {
    text: &'a str,
    end: &'a str,
    added: bool,
}

impl<'a> Text<'a> {
    fn of(text: &'a str, returns: Returns) -> Self {
        let (mut lines, mut ends) = (Vec::new(), Vec::new());
        for line in text.split_inclusive('\n') {
            let mut bare = line.strip_suffix('\n').unwrap_or(line);
            if returns == Returns::OfEndings && bare.len() < line.len() {
                bare = bare.strip_suffix('\r').unwrap_or(bare);
            }
            lines.push(bare);
            ends.push(&line[bare.len()..]);
        }
        Self { lines, ends }
    }

    fn apply(&self, hunks: &[Hunk]) -> Result<Applied, Misfit> {
        let mut made: Vec<Made<'_>> = Vec::with_capacity(self.lines.len());
        let (mut next, mut shift) = (0, 0_i64);
        let (mut additions, mut deletions) = (0, 0);
        for hunk in hunks {
            let at = self.place(hunk, next, shift).map_err(|why| Misfit {
                hunk: hunk.line,
                why,
            })?;
            if let Some(said) = hunk.at {
                let first = if self.wanted(hunk).is_empty() {
                    said
                } else {
                    said.max(1) - 1
                };
                shift = i64::try_from(at).unwrap_or(0) - i64::try_from(first).unwrap_or(0);
            }
            made.extend((next..at).map(|line| self.kept(line)));
            next = self.change(hunk, at, &mut made);
            additions += hunk.additions();
            deletions += hunk.deletions();
        }
        made.extend((next..self.lines.len()).map(|line| self.kept(line)));
        Ok(Applied {
            text: self.join(made, hunks),
            additions,
            deletions,
        })
    }

    fn kept(&self, line: usize) -> Made<'a> {
        Made {
            text: self.lines[line],
            end: self.ends[line],
            added: false,
        }
    }

    /// Adds what a hunk at this place comes to. Gives the first line behind it.
    fn change<'h>(&self, hunk: &'h Hunk, at: usize, made: &mut Vec<Made<'h>>) -> usize
    where
        'a: 'h,
    {
        let mut line = at;
        let mut end = self.end_around(hunk, at);
        for change in &hunk.lines {
            match change.kind {
                Kind::Keep => {
                    end = self.ends[line];
                    made.push(self.kept(line));
                    line += 1;
                }
                Kind::Remove => {
                    end = self.ends[line];
                    line += 1;
                }
                Kind::Add => made.push(Made {
                    text: &change.text,
                    end: if change.ends { self.usual(end) } else { "" },
                    added: true,
                }),
            }
        }
        line
    }

    /// How the lines end that a hunk begins with: as its own do, else as the one before.
    fn end_around(&self, hunk: &Hunk, at: usize) -> &'a str {
        let own = !self.wanted(hunk).is_empty();
        let nearest = if own { Some(at) } else { at.checked_sub(1) };
        let end = nearest.or(Some(at)).and_then(|line| self.ends.get(line));
        end.copied().unwrap_or("")
    }

    /// A line end for a line that is not to be without one.
    fn usual(&self, end: &'a str) -> &'a str {
        if end.is_empty() {
            self.ends
                .first()
                .copied()
                .filter(|end| !end.is_empty())
                .unwrap_or("\n")
        } else {
            end
        }
    }

    fn join(&self, made: Vec<Made<'_>>, hunks: &[Hunk]) -> String {
        let said = hunks
            .iter()
            .flat_map(|hunk| &hunk.lines)
            .any(|line| !line.ends);
        let was_open = self.ends.last().is_some_and(|end| end.is_empty());
        let last = made.len().saturating_sub(1);
        let mut text = String::new();
        for (index, line) in made.into_iter().enumerate() {
            text.push_str(line.text);
            // A text whose last line had no end keeps to that, unless the patch speaks of it.
            let stays_open = index == last && line.added && was_open && !said;
            if stays_open || (index == last && line.end.is_empty()) {
                continue;
            }
            text.push_str(self.usual_of(line.end));
        }
        text
    }

    fn usual_of<'e>(&self, end: &'e str) -> &'e str
    where
        'a: 'e,
    {
        if end.is_empty() { self.usual("") } else { end }
    }

    #[expect(clippy::unused_self, reason = "it reads as a question to the text")]
    fn wanted<'h>(&self, hunk: &'h Hunk) -> Vec<&'h str> {
        hunk.lines
            .iter()
            .filter(|line| line.kind.is_old())
            .map(|line| line.text.as_str())
            .collect()
    }

    /// Where a hunk stands, at or behind line `next` (from 0).
    fn place(&self, hunk: &Hunk, next: usize, shift: i64) -> Result<usize, Why> {
        let wanted = self.wanted(hunk);
        if wanted.is_empty() {
            return self.place_of_addition(hunk, next, shift);
        }
        let found = find(&self.lines, &wanted);
        let fits = |at: &usize| self.ends_fit(hunk, *at, wanted.len());
        let all: Vec<usize> = found.places.iter().copied().filter(fits).collect();
        let behind = all.partition_point(|at| *at < next);
        let places = &all[behind..];
        if let Some(said) = hunk.at {
            let here = i64::try_from(said.max(1) - 1).unwrap_or(i64::MAX);
            let here = here.saturating_add(shift);
            if let Ok(here) = usize::try_from(here)
                && places.binary_search(&here).is_ok()
            {
                return Ok(here);
            }
        }
        let places = if hunk.anchors.is_empty() {
            places.to_vec()
        } else {
            self.behind_anchors(hunk, next, places)?
        };
        match places[..] {
            [only] => Ok(only),
            [] => Err(match all.first() {
                Some(before) => Why::OutOfOrder {
                    line: *before as u64 + 1,
                },
                None => self.not_found(&wanted, found.begun, found.begun_at),
            }),
            _ => Err(ambiguous(&places)),
        }
    }

    /// Whether a place holds to what the hunk says of the end of the text.
    fn ends_fit(&self, hunk: &Hunk, at: usize, length: usize) -> bool {
        if hunk.at_end && at + length != self.lines.len() {
            return false;
        }
        let old = hunk.lines.iter().filter(|line| line.kind.is_old());
        old.zip(at..)
            .all(|(line, at)| line.ends || self.ends[at].is_empty())
    }

    fn place_of_addition(&self, hunk: &Hunk, next: usize, shift: i64) -> Result<usize, Why> {
        if !hunk.anchors.is_empty() {
            let starts: Vec<usize> = (next..=self.lines.len()).collect();
            let places = self.behind_anchors(hunk, next, &starts)?;
            return match places[..] {
                [only] => Ok(only),
                _ => Err(ambiguous(&places)),
            };
        }
        let end = self.lines.len();
        let Some(said) = hunk.at else {
            return Ok(end);
        };
        let here = i64::try_from(said)
            .unwrap_or(i64::MAX)
            .saturating_add(shift);
        match usize::try_from(here) {
            Ok(here) if (next..=end).contains(&here) => Ok(here),
            _ => Err(Why::NotFound { nearest: None }),
        }
    }

    /// For each place where the anchors stand, the first of `places` behind them.
    fn behind_anchors(
        &self,
        hunk: &Hunk,
        next: usize,
        places: &[usize],
    ) -> Result<Vec<usize>, Why> {
        // Behind how many lines the search for the next anchor goes on.
        let mut from: Vec<usize> = vec![next];
        for (index, anchor) in hunk.anchors.iter().enumerate() {
            let exact = self.standing(next, |line| line == anchor);
            let lines = if exact.is_empty() {
                self.standing(next, |line| line.trim() == anchor.trim())
            } else {
                exact
            };
            from = if index == 0 {
                lines.iter().map(|line| line + 1).collect()
            } else {
                let behind = |from: &usize| {
                    let first = lines.partition_point(|line| line < from);
                    lines.get(first).map(|line| line + 1)
                };
                from.iter().filter_map(behind).collect()
            };
            from.dedup();
            if from.is_empty() {
                return Err(Why::NoAnchor {
                    anchor: anchor.clone(),
                });
            }
        }
        let first_behind = |from: &usize| {
            let first = places.partition_point(|at| at < from);
            places.get(first).copied()
        };
        let mut behind: Vec<usize> = from.iter().filter_map(first_behind).collect();
        behind.dedup();
        Ok(behind)
    }

    fn standing(&self, next: usize, is: impl Fn(&str) -> bool) -> Vec<usize> {
        (next..self.lines.len())
            .filter(|at| is(self.lines[*at]))
            .collect()
    }

    fn not_found(&self, wanted: &[&str], begun: usize, begun_at: usize) -> Why {
        let differs = begun_at + begun;
        let nearest = (begun > 0 && begun < wanted.len()).then(|| {
            let has = self
                .lines
                .get(differs)
                .copied()
                .unwrap_or("the end of the file");
            (differs as u64 + 1, wanted[begun].to_owned(), has.to_owned())
        });
        Why::NotFound { nearest }
    }
}

fn ambiguous(places: &[usize]) -> Why {
    Why::Ambiguous {
        places: places
            .iter()
            .take(MAX_PLACES)
            .map(|at| *at as u64 + 1)
            .collect(),
        count: places.len(),
    }
}
