//! The notes, and where they are kept.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::{fs, io};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The most notes that are kept.
const MAX_NOTES: usize = 1000;

/// The longest text of a note, in bytes.
const MAX_TEXT_BYTES: usize = 64 * 1024;

/// A note.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Note {
    /// Its number.
    pub id: u64,
    /// What it is about.
    pub title: String,
    /// What it says.
    pub text: String,
}

/// A note in a list.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Summary {
    /// Its number.
    pub id: u64,
    /// What it is about.
    pub title: String,
}

/// Why something was not done with a note.
#[derive(Debug, thiserror::Error)]
pub enum NotesError {
    /// No note has this number.
    #[error("there is no note {0}")]
    NotFound(u64),
    /// There are too many notes, or one is too long.
    #[error("{0}")]
    TooMuch(String),
    /// The file could not be read or written.
    #[error("the notes cannot be kept: {0}")]
    Io(#[from] io::Error),
    /// The file holds something else.
    #[error("the file holds no notes: {0}")]
    NotNotes(#[from] serde_json::Error),
}

/// All notes, in memory and, where a file is named, in it.
#[derive(Debug, Default)]
pub struct Notes {
    notes: BTreeMap<u64, Note>,
    file: Option<PathBuf>,
}

impl Notes {
    /// The notes of a file, which need not be there yet; without one they last as long as this.
    ///
    /// # Errors
    /// [`NotesError`] when the file is there and cannot be read.
    pub fn open(file: Option<PathBuf>) -> Result<Self, NotesError> {
        let text = match &file {
            None => None,
            Some(path) => match fs::read_to_string(path) {
                Ok(text) => Some(text),
                Err(error) if error.kind() == io::ErrorKind::NotFound => None,
                Err(error) => return Err(error.into()),
            },
        };
        let notes: Vec<Note> = match text {
            Some(text) => serde_json::from_str(&text)?,
            None => Vec::new(),
        };
        let notes = notes.into_iter().map(|note| (note.id, note)).collect();
        Ok(Self { notes, file })
    }

    /// Keeps a new note and gives it.
    ///
    /// # Errors
    /// [`NotesError`]; nothing has changed then.
    pub fn add(&mut self, title: String, text: String) -> Result<Note, NotesError> {
        if self.notes.len() >= MAX_NOTES {
            return Err(NotesError::TooMuch(format!(
                "there are {MAX_NOTES} notes already"
            )));
        }
        if title.len() + text.len() > MAX_TEXT_BYTES {
            return Err(NotesError::TooMuch(format!(
                "a note has at most {MAX_TEXT_BYTES} bytes"
            )));
        }
        let id = self.notes.last_key_value().map_or(1, |(last, _)| last + 1);
        let note = Note { id, title, text };
        self.notes.insert(id, note.clone());
        if let Err(error) = self.save() {
            self.notes.remove(&id);
            return Err(error);
        }
        Ok(note)
    }

    /// The notes that hold a text, in any case, or all; the oldest first.
    #[must_use]
    pub fn list(&self, query: Option<&str>) -> Vec<Summary> {
        let wanted = query.unwrap_or_default().to_lowercase();
        let holds = |text: &str| text.to_lowercase().contains(&wanted);
        self.notes
            .values()
            .filter(|note| holds(&note.title) || holds(&note.text))
            .map(|note| Summary {
                id: note.id,
                title: note.title.clone(),
            })
            .collect()
    }

    /// One note.
    ///
    /// # Errors
    /// [`NotesError::NotFound`].
    pub fn get(&self, id: u64) -> Result<&Note, NotesError> {
        self.notes.get(&id).ok_or(NotesError::NotFound(id))
    }

    /// Throws one note away and gives it.
    ///
    /// # Errors
    /// [`NotesError`]; nothing has changed then.
    pub fn delete(&mut self, id: u64) -> Result<Note, NotesError> {
        let note = self.notes.remove(&id).ok_or(NotesError::NotFound(id))?;
        if let Err(error) = self.save() {
            self.notes.insert(id, note);
            return Err(error);
        }
        Ok(note)
    }

    /// A reader of the file sees the old notes or the new ones, never half of them.
    fn save(&self) -> Result<(), NotesError> {
        let Some(path) = &self.file else {
            return Ok(());
        };
        let notes: Vec<&Note> = self.notes.values().collect();
        let beside = path.with_extension("new");
        fs::write(&beside, serde_json::to_vec_pretty(&notes)?)?;
        fs::rename(&beside, path)?;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn notes_outlive_the_process_where_a_file_is_named() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("notes.json");
        let mut notes = Notes::open(Some(path.clone())).unwrap();
        notes.add("Milk".into(), "two litres".into()).unwrap();
        let gone = notes.add("Bread".into(), String::new()).unwrap();
        notes.delete(gone.id).unwrap();
        let again = Notes::open(Some(path)).unwrap();
        assert_eq!(
            again.list(None),
            [Summary {
                id: 1,
                title: "Milk".into()
            }]
        );
        assert_eq!(again.get(1).unwrap().text, "two litres");
    }

    #[test]
    fn what_cannot_be_kept_is_not_there() {
        let mut notes = Notes::open(Some("/no/such/folder/notes.json".into())).unwrap();
        assert!(matches!(
            notes.add("a".into(), String::new()),
            Err(NotesError::Io(_))
        ));
        assert_eq!(notes.list(None), []);
    }

    #[test]
    fn a_list_can_be_searched_in_title_and_text() {
        let mut notes = Notes::default();
        notes.add("Milk".into(), "two litres".into()).unwrap();
        notes.add("Bread".into(), "from the mill".into()).unwrap();
        let found = |query| notes.list(Some(query)).len();
        assert_eq!((found("MIL"), found("litres"), found("cheese")), (2, 1, 0));
    }

    #[test]
    fn a_number_is_not_given_twice_while_its_successor_is_there() {
        let mut notes = Notes::default();
        for title in ["a", "b", "c"] {
            notes.add(title.into(), String::new()).unwrap();
        }
        notes.delete(2).unwrap();
        assert_eq!(notes.add("d".into(), String::new()).unwrap().id, 4);
    }

    #[test]
    fn too_much_is_refused() {
        let mut notes = Notes::default();
        let long = "x".repeat(MAX_TEXT_BYTES + 1);
        assert!(matches!(
            notes.add(String::new(), long),
            Err(NotesError::TooMuch(_))
        ));
    }
}
