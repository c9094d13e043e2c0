//! The table: what each provider takes of JSON Schema.
//!
//! Sources are the providers' own pages on function calling and structured output, and what they
//! answer to what they do not take. A provider that becomes able to take more only needs its row
//! changed.

use super::SchemaDialect;

/// What to do with `$ref`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Refs {
    /// References into `$defs` stay, also recursive ones.
    Keep,
    /// What they name is put in their place; a recursive one ends in an open value.
    Inline,
}

/// What to do with `oneOf` and `allOf` below the root. At the root no provider takes a union.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Unions {
    /// They stay.
    Any,
    /// `oneOf` becomes `anyOf`, and `allOf` is merged.
    AnyOf,
    /// The same, and nothing may stand beside `anyOf`.
    LoneAnyOf,
}

/// How "or null" is said.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Nulls {
    /// As a type.
    Type,
    /// By `nullable`, as OpenAPI 3.0 has it; a list of types becomes a union.
    Nullable,
}

/// Which values `enum` may have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Enums {
    /// Any, and `const` too.
    Any,
    /// Any, but no `const`.
    NoConst,
    /// Strings only.
    Strings,
}

/// How a list whose places have schemas of their own is said.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Tuples {
    /// By `prefixItems`.
    PrefixItems,
    /// By `items` that take any of them.
    Items,
}

/// Whether a schema must say its type.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Untyped {
    /// It need not.
    Keep,
    /// It must: any value is a union of all types.
    Spell,
}

/// Which keywords are known beside the ones that have a rule of their own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Known {
    /// All: what is not understood is passed over.
    All,
    /// Only these; any other fails the request.
    Only(&'static [&'static str]),
}

/// Which names properties may have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum PropertyNames {
    /// Any.
    Any,
    /// At most 64 of `[A-Za-z0-9_.-]`.
    Plain,
}

/// What a tool without parameters has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum NoParameters {
    /// An object without properties.
    EmptyObject,
    /// No schema at all.
    Nothing,
}

/// Which names tools may begin with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum FirstCharacter {
    /// Any that they may have elsewhere.
    Any,
    /// A letter or an underscore.
    Letter,
}

/// A row.
#[derive(Debug, Clone, Copy)]
pub(super) struct Rules {
    pub(super) refs: Refs,
    pub(super) unions: Unions,
    pub(super) nulls: Nulls,
    pub(super) enums: Enums,
    pub(super) tuples: Tuples,
    pub(super) untyped: Untyped,
    pub(super) keywords: Known,
    pub(super) formats: Known,
    pub(super) property_names: PropertyNames,
    pub(super) no_parameters: NoParameters,
    pub(super) first_character: FirstCharacter,
}

/// What nearly all servers take that turn a schema into a grammar or into a template.
const COMPATIBLE: Rules = Rules {
    refs: Refs::Inline,
    unions: Unions::AnyOf,
    nulls: Nulls::Type,
    enums: Enums::NoConst,
    tuples: Tuples::Items,
    untyped: Untyped::Keep,
    keywords: Known::All,
    formats: Known::All,
    property_names: PropertyNames::Any,
    no_parameters: NoParameters::EmptyObject,
    first_character: FirstCharacter::Any,
};

/// Without strict mode all of JSON Schema is taken below the root, but lists must say `items`.
const OPENAI: Rules = Rules {
    refs: Refs::Keep,
    unions: Unions::Any,
    enums: Enums::Any,
    ..COMPATIBLE
};

/// What Gemini reads of JSON Schema in `parametersJsonSchema`, which is how it is called natively.
const GEMINI_NATIVE: Rules = Rules {
    tuples: Tuples::PrefixItems,
    keywords: Known::Only(&[
        "maxItems",
        "maximum",
        "minItems",
        "minimum",
        "prefixItems",
        "propertyOrdering",
        "title",
    ]),
    formats: GEMINI.formats,
    first_character: FirstCharacter::Letter,
    ..COMPATIBLE
};

/// The `Schema` object of Gemini: a part of OpenAPI 3.0.
const GEMINI: Rules = Rules {
    unions: Unions::LoneAnyOf,
    nulls: Nulls::Nullable,
    enums: Enums::Strings,
    untyped: Untyped::Spell,
    keywords: Known::Only(&[
        "default",
        "example",
        "maxItems",
        "maxLength",
        "maxProperties",
        "maximum",
        "minItems",
        "minLength",
        "minProperties",
        "minimum",
        "pattern",
        "propertyOrdering",
        "title",
    ]),
    formats: Known::Only(&["date-time", "double", "enum", "float", "int32", "int64"]),
    no_parameters: NoParameters::Nothing,
    first_character: FirstCharacter::Letter,
    ..COMPATIBLE
};

impl SchemaDialect {
    pub(super) fn rules(self) -> &'static Rules {
        const ROWS: [Rules; 4] = [
            // Checked against draft 2020-12, whose lists have `prefixItems`.
            Rules {
                tuples: Tuples::PrefixItems,
                property_names: PropertyNames::Plain,
                ..OPENAI
            },
            // Its template shows the model `type`, `enum`, `items`, `properties` and `anyOf`;
            // anything else is read and passed over, so a reference would be nothing.
            COMPATIBLE,
            // Models of several makers behind one API: the least that they have in common.
            Rules {
                property_names: PropertyNames::Plain,
                ..COMPATIBLE
            },
            // One maker here refuses a type beside `anyOf`.
            Rules {
                unions: Unions::LoneAnyOf,
                ..COMPATIBLE
            },
        ];
        match self {
            Self::OpenAiChat | Self::OpenAiResponses => &OPENAI,
            Self::GeminiCompatible => &GEMINI,
            Self::GeminiNative => &GEMINI_NATIVE,
            Self::Anthropic => &ROWS[0],
            Self::Ollama => &ROWS[1],
            Self::Bedrock => &ROWS[2],
            Self::Compatible => &ROWS[3],
        }
    }
}

impl Known {
    pub(super) fn has(self, word: &str) -> bool {
        match self {
            Self::All => true,
            Self::Only(words) => words.contains(&word),
        }
    }
}
