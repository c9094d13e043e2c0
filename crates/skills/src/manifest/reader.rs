//! From fields to a manifest.

use super::list::{Apart, items};
use super::rules::{is_spec_name, normal};
use super::{Dependency, Manifest};
use crate::SkillName;
use crate::frontmatter::{Field, Kind};
use crate::limits::{
    MAX_DECLARED, SPEC_COMPATIBILITY_CHARS, SPEC_DESCRIPTION_CHARS, SPEC_NAME_CHARS,
};
use crate::problem::{Finding, Place, Problem};

/// The keys of the Agent Skills specification.
const SPEC_KEYS: &[&str] = &[
    "name",
    "description",
    "license",
    "compatibility",
    "metadata",
    "allowed-tools",
];

/// The keys that the field uses beside them and that are read here.
const ALLOWED_TOOLS: &[&str] = &["allowed-tools", "allowed_tools", "allowedTools"];

/// Reads a manifest from fields and keeps what is wrong with them.
pub(crate) struct Reader<'f> {
    fields: &'f [Field],
    directory: &'f str,
    findings: Vec<Finding>,
}

impl<'f> Reader<'f> {
    pub(crate) fn new(fields: &'f [Field], directory: &'f str) -> Self {
        Self {
            fields,
            directory,
            findings: Vec::new(),
        }
    }

    /// The manifest, or why there is none; and everything found on the way.
    pub(crate) fn read(mut self) -> (Result<Manifest, Finding>, Vec<Finding>) {
        self.check_keys();
        let manifest = self.manifest();
        (manifest, self.findings)
    }

    fn manifest(&mut self) -> Result<Manifest, Finding> {
        let name = self.name();
        let description = self.description();
        let license = self.text("license");
        let compatibility = self.compatibility();
        let version = self.version();
        let tags = self.list(&["tags"], Apart::Commas);
        let tools = self.list(&["tools"], Apart::CommasOrSpaces);
        let allowed_tools = self.allowed_tools();
        let dependencies = self.dependencies();
        Ok(Manifest {
            name: name?,
            description: description?,
            version,
            license,
            compatibility,
            dependencies,
            tags,
            tools,
            allowed_tools,
            model_may_load: !self.is_true("disable-model-invocation"),
        })
    }

    fn check_keys(&mut self) {
        let mut seen: Vec<&str> = Vec::new();
        for field in self.fields {
            let key = field.key.as_str();
            if seen.contains(&key) {
                self.find(
                    Problem::DuplicateKey,
                    format!("{key} stands twice; the first counts"),
                    field.at,
                );
            } else if !SPEC_KEYS.contains(&key) {
                let shown: String = key.chars().take(80).collect();
                self.find(
                    Problem::UnknownKey,
                    format!("the specification has no key {shown:?}"),
                    field.at,
                );
            }
            seen.push(key);
        }
        if let Some(metadata) = self.field("metadata") {
            self.check_metadata(metadata);
        }
    }

    fn check_metadata(&mut self, metadata: &Field) {
        let Kind::Map(entries) = &metadata.value.kind else {
            let is = metadata.value.kind_word();
            self.find(
                Problem::WrongType,
                format!("metadata is {is}, not a mapping"),
                metadata.at,
            );
            return;
        };
        for (key, value) in entries {
            if !matches!(value.kind, Kind::Text(_)) {
                let is = value.kind_word();
                self.find(
                    Problem::MetadataNotText,
                    format!("metadata {key} is {is}, not a text"),
                    value.at,
                );
            }
        }
    }

    fn name(&mut self) -> Result<SkillName, Finding> {
        let usable = |text: &str, at: Option<Place>| {
            SkillName::new(text).ok_or_else(|| {
                let shown: String = text.chars().take(60).collect();
                let finding =
                    Finding::new(Problem::NameUnusable, format!("{shown:?} cannot be a name"));
                at.map_or(finding.clone(), |at| finding.at(at))
            })
        };
        let field = self.field("name");
        let Some((text, at)) =
            field.and_then(|field| Some((field.value.scalar()?, field.value.at)))
        else {
            match field {
                Some(field) => {
                    let is = field.value.kind_word();
                    self.find(
                        Problem::NameMissing,
                        format!("the name is {is}; the directory's is taken"),
                        field.at,
                    );
                }
                None => self.findings.push(Finding::new(
                    Problem::NameMissing,
                    "there is no name; the directory's is taken",
                )),
            }
            return usable(self.directory, None);
        };
        let name = usable(text, Some(at))?;
        let length = name.as_str().chars().count();
        if length > SPEC_NAME_CHARS {
            self.find(
                Problem::NameTooLong,
                format!("the name has {length} characters, at most {SPEC_NAME_CHARS} are allowed"),
                at,
            );
        }
        if !is_spec_name(name.as_str()) {
            self.find(
                Problem::NameCharacters,
                "a name has lowercase letters, digits and single hyphens between them",
                at,
            );
        }
        if normal(name.as_str()) != normal(self.directory) {
            let directory = self.directory;
            self.find(
                Problem::NameNotDirectory,
                format!("the name is not that of its directory {directory:?}"),
                at,
            );
        }
        Ok(name)
    }

    fn description(&mut self) -> Result<String, Finding> {
        let Some(field) = self.field("description") else {
            return Err(Finding::new(
                Problem::DescriptionMissing,
                "there is no description",
            ));
        };
        let text = field
            .value
            .scalar()
            .map(str::trim)
            .filter(|text| !text.is_empty());
        let Some(text) = text else {
            let is = match field.value.kind {
                Kind::Text(_) => "empty",
                _ => field.value.kind_word(),
            };
            return Err(Finding::new(
                Problem::DescriptionMissing,
                format!("the description is {is}"),
            )
            .at(field.at));
        };
        let length = text.chars().count();
        if length > SPEC_DESCRIPTION_CHARS {
            self.find(Problem::DescriptionTooLong, format!("the description has {length} characters, at most {SPEC_DESCRIPTION_CHARS} are allowed"), field.value.at);
        }
        Ok(text.to_owned())
    }

    fn compatibility(&mut self) -> Option<String> {
        let field = self.field("compatibility")?;
        let text = self.text("compatibility").unwrap_or_default();
        let length = text.trim().chars().count();
        let is_text = field.value.scalar().is_some() || field.value.kind == Kind::Null;
        if is_text && !(1..=SPEC_COMPATIBILITY_CHARS).contains(&length) {
            self.find(Problem::CompatibilityLength, format!("compatibility has {length} characters, 1 to {SPEC_COMPATIBILITY_CHARS} are allowed"), field.value.at);
        }
        Some(text).filter(|text| !text.trim().is_empty())
    }

    /// `version`, or that of `metadata`, where the specification puts it.
    fn version(&mut self) -> Option<String> {
        if self.field("version").is_some() {
            return self.text("version");
        }
        let Kind::Map(entries) = &self.field("metadata")?.value.kind else {
            return None;
        };
        let (_, value) = entries.iter().find(|(key, _)| key == "version")?;
        Some(value.scalar()?.trim().to_owned())
    }

    fn allowed_tools(&mut self) -> Vec<String> {
        if let Some(field) = self.field("allowed-tools")
            && let Kind::List(_) | Kind::Null | Kind::Other(_) = field.value.kind
        {
            let is = field.value.kind_word();
            self.find(
                Problem::AllowedToolsForm,
                format!("allowed-tools is {is}, not one text"),
                field.value.at,
            );
        }
        self.list(ALLOWED_TOOLS, Apart::CommasOrSpaces)
    }

    fn dependencies(&mut self) -> Vec<Dependency> {
        let Some(field) = self.field("dependencies") else {
            return Vec::new();
        };
        let pairs: Vec<(String, Option<String>)> = match &field.value.kind {
            Kind::Map(entries) => entries
                .iter()
                .map(|(name, value)| {
                    (
                        name.clone(),
                        value.scalar().map(|text| text.trim().to_owned()),
                    )
                })
                .collect(),
            _ => self
                .list(&["dependencies"], Apart::Commas)
                .into_iter()
                .map(|item| (item, None))
                .collect(),
        };
        let mut found: Vec<Dependency> = Vec::new();
        for (name, requirement) in pairs.into_iter().take(MAX_DECLARED) {
            match SkillName::new(&name) {
                Some(name) if found.iter().all(|other| other.name != name) => {
                    found.push(Dependency { name, requirement });
                }
                Some(_) => {}
                None => self.find(
                    Problem::WrongType,
                    "a dependency is not a name",
                    field.value.at,
                ),
            }
        }
        found
    }

    fn is_true(&self, key: &str) -> bool {
        let text = self.field(key).and_then(|field| field.value.scalar());
        text.is_some_and(|text| text.trim().eq_ignore_ascii_case("true"))
    }

    fn text(&mut self, key: &str) -> Option<String> {
        let field = self.field(key)?;
        let text = field.value.scalar().map(|text| text.trim().to_owned());
        if text.is_none() && field.value.kind != Kind::Null {
            let is = field.value.kind_word();
            self.find(
                Problem::WrongType,
                format!("{key} is {is}, not a text"),
                field.value.at,
            );
        }
        text.filter(|text| !text.is_empty())
    }

    /// The list under the first of `keys` that is there.
    fn list(&mut self, keys: &[&str], apart: Apart) -> Vec<String> {
        let Some(field) = keys.iter().find_map(|key| self.field(key)) else {
            return Vec::new();
        };
        let Some(mut list) = items(&field.value, apart) else {
            let (key, is) = (&field.key, field.value.kind_word());
            self.find(
                Problem::WrongType,
                format!("{key} is {is}, not a list of texts"),
                field.value.at,
            );
            return Vec::new();
        };
        if list.len() > MAX_DECLARED {
            let (key, length) = (&field.key, list.len());
            self.find(
                Problem::TooManyDeclared,
                format!("{key} has {length} entries, {MAX_DECLARED} are kept"),
                field.value.at,
            );
            list.truncate(MAX_DECLARED);
        }
        list
    }

    fn field(&self, key: &str) -> Option<&'f Field> {
        self.fields.iter().find(|field| field.key == key)
    }

    fn find(&mut self, code: Problem, message: impl Into<String>, at: Place) {
        self.findings.push(Finding::new(code, message).at(at));
    }
}
