//! Where contacts are kept. As with events, there is no way to one but as its owner.

use std::path::PathBuf;

use outfitter_core::{Code, Principal, Subject, Tenant};
use serde::{Deserialize, Serialize};

use crate::fault::Fault;
use crate::rows::Rows;

/// Contacts of one person.
const MAX_CONTACTS: usize = 10_000;

/// Somebody to speak to.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Contact {
    /// Their id on the platform.
    pub(crate) id: String,
    pub(crate) name: String,
    pub(crate) platform: String,
    /// The conversation with them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) stream: Option<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) groups: Vec<String>,
    /// What is known of them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) profile: Option<String>,
    /// How often one should speak with them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) frequency: Option<serde_json::Number>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Row {
    tenant: Tenant,
    subject: Subject,
    contact: Contact,
}

/// The contacts of a directory.
pub(crate) struct Contacts {
    directory: PathBuf,
}

/// The contacts of one person.
pub(crate) struct Mine {
    who: (Tenant, Subject),
    rows: Rows<Row>,
}

impl Contacts {
    pub(crate) fn at(directory: impl Into<PathBuf>) -> Self {
        Self {
            directory: directory.into(),
        }
    }

    pub(crate) fn of(&self, who: &Principal) -> Result<Mine, Fault> {
        Ok(Mine {
            who: (who.tenant.clone(), who.subject.clone()),
            rows: Rows::open(&self.directory, "contacts")?,
        })
    }
}

impl Mine {
    /// All of them, in the order in which they came.
    pub(crate) fn all(&self) -> impl Iterator<Item = &Contact> {
        let mine = self.rows.all.iter().filter(|row| self.owns(row));
        mine.map(|row| &row.contact)
    }

    /// Adds one, or puts it in the place of the one with its id on its platform. Says whether it
    /// is new.
    pub(crate) fn put(&mut self, contact: Contact) -> Result<bool, Fault> {
        let same = |row: &Row| {
            (&row.contact.id, &row.contact.platform) == (&contact.id, &contact.platform)
        };
        let mut rows = self.rows.all.iter();
        let place = rows.position(|row| self.owns(row) && same(row));
        if place.is_none() && self.all().count() >= MAX_CONTACTS {
            let why = format!("there are {MAX_CONTACTS} contacts already");
            return Err(Fault::new(Code::Failed, why));
        }
        let (tenant, subject) = self.who.clone();
        let row = Row {
            tenant,
            subject,
            contact,
        };
        match place {
            Some(at) => self.rows.all[at] = row,
            None => self.rows.all.push(row),
        }
        self.rows.save()?;
        Ok(place.is_none())
    }

    fn owns(&self, row: &Row) -> bool {
        (&row.tenant, &row.subject) == (&self.who.0, &self.who.1)
    }
}
