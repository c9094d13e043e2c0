//! Where events are kept. Every row has an owner, and there is no way to a row but as its owner.

use std::path::PathBuf;

use jiff::Timestamp;
use outfitter_core::{Code, Principal, Subject, Tenant};
use serde::{Deserialize, Serialize};

use crate::fault::Fault;
use crate::rows::Rows;

/// Events of one person.
const MAX_EVENTS: usize = 10_000;

/// An event, as its owner sees it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Event {
    /// Its id.
    pub id: String,
    /// What it is called.
    pub title: String,
    /// When it begins.
    pub start: Timestamp,
    /// When it ends.
    pub end: Timestamp,
    /// Where it is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub location: Option<String>,
    /// What else is to be said of it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub notes: Option<String>,
    /// Who else comes.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub attendees: Vec<String>,
    /// Rises with each change.
    pub revision: u64,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct Row {
    tenant: Tenant,
    subject: Subject,
    event: Event,
}

/// The calendar of a directory.
#[derive(Debug)]
pub struct Store {
    directory: PathBuf,
}

/// The calendar of one person, as it was when it was opened. Others wait until it is let go.
#[derive(Debug)]
pub struct Mine {
    who: (Tenant, Subject),
    rows: Rows<Row>,
}

impl Store {
    /// The calendar in this directory, which is made when it is not there.
    #[must_use]
    pub fn at(directory: impl Into<PathBuf>) -> Self {
        Self {
            directory: directory.into(),
        }
    }

    /// Opens what belongs to one person.
    ///
    /// # Errors
    /// [`Fault`] with `unavailable`.
    pub fn of(&self, who: &Principal) -> Result<Mine, Fault> {
        Ok(Mine {
            who: (who.tenant.clone(), who.subject.clone()),
            rows: Rows::open(&self.directory, "calendar")?,
        })
    }
}

impl Mine {
    /// The events, by their beginning.
    #[must_use]
    pub fn events(&self) -> Vec<&Event> {
        let mut events: Vec<&Event> = self
            .rows
            .all
            .iter()
            .filter(|row| self.owns(row))
            .map(|row| &row.event)
            .collect();
        events.sort_by(|a, b| (a.start, &a.id).cmp(&(b.start, &b.id)));
        events
    }

    /// One event.
    ///
    /// # Errors
    /// [`Fault`] with `not_found`, also for another person's.
    pub fn event(&self, id: &str) -> Result<&Event, Fault> {
        self.events()
            .into_iter()
            .find(|event| event.id == id)
            .ok_or_else(|| Fault::no_event(id))
    }

    /// Adds an event, or puts it in the place of the one with its id.
    ///
    /// # Errors
    /// [`Fault`]; nothing has changed then.
    pub fn put(&mut self, event: Event) -> Result<(), Fault> {
        let (tenant, subject) = self.who.clone();
        let row = Row {
            tenant,
            subject,
            event,
        };
        let place = self
            .rows
            .all
            .iter()
            .position(|known| self.owns(known) && known.event.id == row.event.id);
        match place {
            Some(at) => self.rows.all[at] = row,
            None if self.events().len() >= MAX_EVENTS => {
                return Err(Fault::new(
                    Code::Failed,
                    format!("there are {MAX_EVENTS} events already"),
                ));
            }
            None => self.rows.all.push(row),
        }
        self.rows.save()
    }

    /// Takes an event out.
    ///
    /// # Errors
    /// [`Fault`] with `not_found`, also for another person's.
    pub fn remove(&mut self, id: &str) -> Result<Event, Fault> {
        let event = self.event(id)?.clone();
        let (tenant, subject) = &self.who;
        self.rows
            .all
            .retain(|row| row.tenant != *tenant || row.subject != *subject || row.event.id != id);
        self.rows.save()?;
        Ok(event)
    }

    fn owns(&self, row: &Row) -> bool {
        (&row.tenant, &row.subject) == (&self.who.0, &self.who.1)
    }
}
