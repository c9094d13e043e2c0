//! What a schema says of a place, as far as it matters for coercion.
//!
//! A place is a list of alternatives, one of which a value there fits; an alternative is a list of
//! schemas, all of which it fits. What is not understood is taken to admit anything, and a place
//! that admits anything is never coerced: so ignoring a keyword can only leave more alone.

use serde_json::{Map, Value};

use super::spelled::Kind;

/// The most alternatives of one place. A place with more of them is left alone.
const MAX_ALTERNATIVES: usize = 64;

/// How many schemas are looked at for all places of one value.
const MAX_SCHEMAS: usize = 20_000;

/// How deep references and combinations may lead into each other.
const MAX_NESTED: usize = 24;

/// Schemas that all hold.
type Together<'s> = Vec<&'s Value>;

/// A place: one of these holds. None where nothing is known of it.
#[derive(Debug, Clone)]
pub(super) struct Place<'s>(Option<Vec<Together<'s>>>);

impl Place<'_> {
    const UNKNOWN: Self = Self(None);
}

/// The places of one schema.
pub(super) struct Places<'s> {
    root: &'s Value,
    left: std::cell::Cell<usize>,
}

/// The kinds of JSON, as flags.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Kinds(u8);

impl Kinds {
    const NONE: Self = Self(0);
    const NULL: Self = Self(1);
    const BOOLEAN: Self = Self(1 << 1);
    const INTEGER: Self = Self(1 << 2);
    /// Numbers that are not whole.
    const FRACTION: Self = Self(1 << 3);
    const STRING: Self = Self(1 << 4);
    const ARRAY: Self = Self(1 << 5);
    const OBJECT: Self = Self(1 << 6);
    const ALL: Self = Self(0x7f);

    const fn or(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    const fn both(self, other: Self) -> Self {
        Self(self.0 & other.0)
    }

    const fn without(self, other: Self) -> Self {
        Self(self.0 & !other.0)
    }

    fn named(name: &str) -> Self {
        match name {
            "null" => Self::NULL,
            "boolean" => Self::BOOLEAN,
            "integer" => Self::INTEGER,
            "number" => Self::INTEGER.or(Self::FRACTION),
            "string" => Self::STRING,
            "array" => Self::ARRAY,
            "object" => Self::OBJECT,
            // No word of JSON Schema: what it means is anybody's guess.
            _ => Self::ALL,
        }
    }

    fn of(value: &Value) -> Self {
        match value {
            Value::Null => Self::NULL,
            Value::Bool(_) => Self::BOOLEAN,
            Value::Number(number) if number.is_f64() => Self::INTEGER.or(Self::FRACTION),
            Value::Number(_) => Self::INTEGER,
            Value::String(_) => Self::STRING,
            Value::Array(_) => Self::ARRAY,
            Value::Object(_) => Self::OBJECT,
        }
    }

    /// The one kind that is left beside null, if it is one that can be read out of a string.
    fn only(self) -> Option<Kind> {
        match self.without(Self::NULL) {
            Self::BOOLEAN => Some(Kind::Boolean),
            Self::INTEGER => Some(Kind::Integer),
            kinds if kinds == Self::INTEGER.or(Self::FRACTION) => Some(Kind::Number),
            Self::FRACTION => Some(Kind::Number),
            Self::ARRAY => Some(Kind::Array),
            Self::OBJECT => Some(Kind::Object),
            _ => None,
        }
    }
}

impl<'s> Places<'s> {
    pub(super) fn new(root: &'s Value) -> Self {
        Self {
            root,
            left: std::cell::Cell::new(MAX_SCHEMAS),
        }
    }

    /// The place of the whole value.
    pub(super) fn root(&self) -> Place<'s> {
        self.place([self.root])
    }

    /// The one kind of value that fits here beside null, if there is just one and it is not text.
    pub(super) fn only_kind(&self, place: &Place<'s>) -> Option<Kind> {
        let alternatives = place.0.as_ref()?;
        alternatives
            .iter()
            .map(|together| kinds_of(together))
            .fold(Kinds::NONE, Kinds::or)
            .only()
    }

    /// The place without the alternatives that an object with these members cannot mean: of a
    /// tagged union, those with another tag.
    pub(super) fn narrowed(&self, place: &Place<'s>, map: &Map<String, Value>) -> Place<'s> {
        let Some(alternatives) = &place.0 else {
            return Place::UNKNOWN;
        };
        let fitting = alternatives
            .iter()
            .filter(|together| kinds_of(together).both(Kinds::OBJECT) != Kinds::NONE)
            .filter(|together| together.iter().all(|schema| tags_fit(schema, map)));
        Place(Some(fitting.cloned().collect()))
    }

    /// The place of a member.
    pub(super) fn property(&self, place: &Place<'s>, name: &str) -> Place<'s> {
        self.below(place, |schema| {
            let known = schema
                .get("properties")
                .and_then(|properties| properties.get(name));
            match (known, schema.get("patternProperties")) {
                (Some(known), _) => Some(known),
                (None, None) => schema.get("additionalProperties"),
                // A pattern may be meant.
                (None, Some(_)) => None,
            }
        })
    }

    /// The place of an element.
    pub(super) fn item(&self, place: &Place<'s>, index: usize) -> Place<'s> {
        self.below(place, |schema| {
            // A list of schemas under `items` is how tuples were written before 2020-12.
            let (tuple, rest) = match (schema.get("prefixItems"), schema.get("items")) {
                (Some(tuple), rest) => (Some(tuple), rest),
                (None, Some(tuple @ Value::Array(_))) => {
                    (Some(tuple), schema.get("additionalItems"))
                }
                (None, rest) => (None, rest),
            };
            tuple.and_then(|tuple| tuple.get(index)).or(rest)
        })
    }

    /// What the alternatives of a place say of a place below it.
    fn below(&self, place: &Place<'s>, step: impl Fn(&'s Value) -> Option<&'s Value>) -> Place<'s> {
        let Some(alternatives) = &place.0 else {
            return Place::UNKNOWN;
        };
        let mut all = Vec::new();
        for together in alternatives {
            let Place(Some(below)) = self.place(together.iter().copied().filter_map(&step)) else {
                return Place::UNKNOWN;
            };
            all.extend(below);
            if all.len() > MAX_ALTERNATIVES {
                return Place::UNKNOWN;
            }
        }
        Place(Some(all))
    }

    /// The place where all of these schemas hold.
    fn place(&self, schemas: impl IntoIterator<Item = &'s Value>) -> Place<'s> {
        let mut alternatives = vec![Vec::new()];
        for schema in schemas {
            match self.conjoin(alternatives, schema, MAX_NESTED) {
                Some(more) => alternatives = more,
                None => return Place::UNKNOWN,
            }
        }
        Place(Some(alternatives))
    }

    /// The alternatives with one more schema that holds; none where there are too many, or where
    /// something is referred to that is not here.
    fn conjoin(
        &self,
        mut alternatives: Vec<Together<'s>>,
        schema: &'s Value,
        depth: usize,
    ) -> Option<Vec<Together<'s>>> {
        let depth = depth.checked_sub(1)?;
        self.left.set(self.left.get().checked_sub(1)?);
        if let Some(reference) = schema.get("$ref") {
            alternatives = self.conjoin(alternatives, self.resolve(reference)?, depth)?;
        }
        for part in list(schema, "allOf") {
            alternatives = self.conjoin(alternatives, part, depth)?;
        }
        for keyword in ["anyOf", "oneOf"] {
            let parts = list(schema, keyword);
            if parts.is_empty() {
                continue;
            }
            let mut each = Vec::new();
            for part in parts {
                each.extend(self.conjoin(alternatives.clone(), part, depth)?);
                if each.len() > MAX_ALTERNATIVES {
                    return None;
                }
            }
            alternatives = each;
        }
        for together in &mut alternatives {
            together.push(schema);
        }
        Some(alternatives)
    }

    /// A reference within the schema, as a JSON Pointer (RFC 6901) in a fragment.
    fn resolve(&self, reference: &Value) -> Option<&'s Value> {
        let pointer = reference.as_str()?.strip_prefix('#')?;
        // An escaped one is rare, an anchor too: both are left alone.
        if pointer.contains('%') {
            return None;
        }
        self.root.pointer(pointer)
    }
}

fn list<'s>(schema: &'s Value, keyword: &str) -> &'s [Value] {
    schema
        .get(keyword)
        .and_then(Value::as_array)
        .map_or(&[], Vec::as_slice)
}

/// The kinds that all of these admit.
fn kinds_of(together: &[&Value]) -> Kinds {
    together
        .iter()
        .map(|schema| own_kinds(schema))
        .fold(Kinds::ALL, Kinds::both)
}

/// The kinds that a schema admits by what stands in it, without what it refers to.
fn own_kinds(schema: &Value) -> Kinds {
    if *schema == Value::Bool(false) {
        return Kinds::NONE;
    }
    let by_type = match schema.get("type") {
        Some(Value::String(name)) => Kinds::named(name),
        Some(Value::Array(names)) => names
            .iter()
            .map(|name| name.as_str().map_or(Kinds::ALL, Kinds::named))
            .fold(Kinds::NONE, Kinds::or),
        Some(_) | None => Kinds::ALL,
    };
    let by_enum = match schema.get("enum") {
        Some(Value::Array(values)) => values.iter().map(Kinds::of).fold(Kinds::NONE, Kinds::or),
        Some(_) | None => Kinds::ALL,
    };
    let by_const = schema.get("const").map_or(Kinds::ALL, Kinds::of);
    by_type.both(by_enum).both(by_const)
}

/// Whether the members that a schema fixes have these values, where they are there.
fn tags_fit(schema: &Value, map: &Map<String, Value>) -> bool {
    let Some(properties) = schema.get("properties").and_then(Value::as_object) else {
        return true;
    };
    properties
        .iter()
        .all(|(name, property)| match (map.get(name), tags(property)) {
            (Some(Value::String(value)), Some(tags)) => tags.contains(&value.as_str()),
            // A tag that is no text says nothing, and neither does one that is left out.
            _ => true,
        })
}

/// The texts that a schema fixes, where it takes nothing but some texts.
fn tags(property: &Value) -> Option<Vec<&str>> {
    if let Some(tag) = property.get("const") {
        return Some(vec![tag.as_str()?]);
    }
    let tags = property.get("enum")?.as_array()?;
    tags.iter().map(Value::as_str).collect()
}
