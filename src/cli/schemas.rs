//! The JSON Schemas of the documents that commands print under `--json`, as they stand in
//! `docs/protocols/cli/`; those of tools, sessions, events and errors are with the codec.

use outfitter_codec::{ApprovalList, SchemaFile, document_schema};

use super::approvals::Revoked;
use super::artifacts::{Got, Kept};
use super::doctor::Report;
use super::documents::{Begun, ConfigChecked, Deleted, Serving, ToldFirst};
use super::skills::{Listed, Shown};
use crate::config::explain;

/// All of them.
#[must_use]
pub fn schema_files() -> Vec<SchemaFile> {
    vec![
        document_schema::<ApprovalList>(
            "approval-list.schema.json",
            "Outfitter: what was approved for longer than a session, version 1",
        ),
        document_schema::<Revoked<'static>>(
            "approval-revoked.schema.json",
            "Outfitter: an approval that was taken back, version 1",
        ),
        document_schema::<Kept>(
            "artifact-list.schema.json",
            "Outfitter: what calls kept, version 1",
        ),
        document_schema::<Got>(
            "artifact.schema.json",
            "Outfitter: an artifact that was written, or could be, version 1",
        ),
        document_schema::<ConfigChecked>(
            "config-check.schema.json",
            "Outfitter: a configuration that is right, version 1",
        ),
        document_schema::<explain::Document>(
            "config-explain.schema.json",
            "Outfitter: the configuration in effect, version 1",
        ),
        document_schema::<ToldFirst<'static>>(
            "config-explain-prompt.schema.json",
            "Outfitter: what a model is told first, version 1",
        ),
        document_schema::<Report>(
            "doctor.schema.json",
            "Outfitter: what works here and what does not, version 1",
        ),
        document_schema::<Begun>(
            "init.schema.json",
            "Outfitter: what was written to begin with, version 1",
        ),
        document_schema::<Serving>(
            "serve.schema.json",
            "Outfitter: where a server listens, version 1",
        ),
        document_schema::<Deleted<'static>>(
            "session-deleted.schema.json",
            "Outfitter: a session that was deleted, version 1",
        ),
        document_schema::<Listed>(
            "skill-list.schema.json",
            "Outfitter: the skills that may be used, version 1",
        ),
        document_schema::<Shown>("skill.schema.json", "Outfitter: one skill, version 1"),
    ]
}
