//! Types read from JSON of others, strictly: what is a struct here is an object there. Serde also
//! takes a list for one, as the values of its fields in their order.

use std::fmt;

use serde::de::{
    Deserialize, DeserializeSeed, Deserializer, EnumAccess, Error, MapAccess, SeqAccess,
    Unexpected, VariantAccess, Visitor,
};
use serde_json::Value;

/// How serde_json asks for a value as it is written, which nothing may come between.
const RAW: &str = "$serde_json::private::RawValue";

/// Reads one value and nothing after it.
///
/// # Errors
/// What is wrong with it, also that a list stands where an object has to, however deep.
pub fn from_json_slice<'de, T: Deserialize<'de>>(bytes: &'de [u8]) -> serde_json::Result<T> {
    let mut reader = serde_json::Deserializer::from_slice(bytes);
    let value = T::deserialize(Strict(&mut reader))?;
    reader.end().map(|()| value)
}

/// The same of a text.
///
/// # Errors
/// As [`from_json_slice`].
pub fn from_json_str<'de, T: Deserialize<'de>>(text: &'de str) -> serde_json::Result<T> {
    let mut reader = serde_json::Deserializer::from_str(text);
    let value = T::deserialize(Strict(&mut reader))?;
    reader.end().map(|()| value)
}

/// The same of a value that was read before.
///
/// # Errors
/// As [`from_json_slice`].
pub fn from_json_value<'de, T: Deserialize<'de>>(value: Value) -> serde_json::Result<T> {
    T::deserialize(Strict(value))
}

/// A reader, or something that it hands on, that takes no list for a struct.
struct Strict<T>(T);

/// A visitor of a struct.
struct OfStruct<V>(V);

macro_rules! readers {
    ($($method:ident)*) => {$(
        fn $method<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Self::Error> {
            self.0.$method(Strict(visitor))
        }
    )*};
}

impl<'de, D: Deserializer<'de>> Deserializer<'de> for Strict<D> {
    type Error = D::Error;

    readers! {
        deserialize_any deserialize_bool deserialize_i8 deserialize_i16 deserialize_i32
        deserialize_i64 deserialize_i128 deserialize_u8 deserialize_u16 deserialize_u32
        deserialize_u64 deserialize_u128 deserialize_f32 deserialize_f64 deserialize_char
        deserialize_str deserialize_string deserialize_bytes deserialize_byte_buf
        deserialize_option deserialize_unit deserialize_seq deserialize_map
        deserialize_identifier deserialize_ignored_any
    }

    fn deserialize_unit_struct<V: Visitor<'de>>(
        self,
        name: &'static str,
        visitor: V,
    ) -> Result<V::Value, Self::Error> {
        self.0.deserialize_unit_struct(name, Strict(visitor))
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        name: &'static str,
        visitor: V,
    ) -> Result<V::Value, Self::Error> {
        match name {
            RAW => self.0.deserialize_newtype_struct(name, visitor),
            _ => self.0.deserialize_newtype_struct(name, Strict(visitor)),
        }
    }

    fn deserialize_tuple<V: Visitor<'de>>(
        self,
        len: usize,
        visitor: V,
    ) -> Result<V::Value, Self::Error> {
        self.0.deserialize_tuple(len, Strict(visitor))
    }

    fn deserialize_tuple_struct<V: Visitor<'de>>(
        self,
        name: &'static str,
        len: usize,
        visitor: V,
    ) -> Result<V::Value, Self::Error> {
        self.0.deserialize_tuple_struct(name, len, Strict(visitor))
    }

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        name: &'static str,
        fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Self::Error> {
        self.0.deserialize_struct(name, fields, OfStruct(visitor))
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        name: &'static str,
        variants: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Self::Error> {
        self.0.deserialize_enum(name, variants, Strict(visitor))
    }

    fn is_human_readable(&self) -> bool {
        self.0.is_human_readable()
    }
}

macro_rules! plain_values {
    ($($method:ident: $of:ty,)*) => {$(
        fn $method<E: Error>(self, value: $of) -> Result<Self::Value, E> {
            self.0.$method(value)
        }
    )*};
}

impl<'de, V: Visitor<'de>> Visitor<'de> for Strict<V> {
    type Value = V::Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.expecting(f)
    }

    plain_values! {
        visit_bool: bool,
        visit_i64: i64,
        visit_i128: i128,
        visit_u64: u64,
        visit_u128: u128,
        visit_f64: f64,
        visit_str: &str,
        visit_borrowed_str: &'de str,
        visit_string: String,
        visit_bytes: &[u8],
        visit_borrowed_bytes: &'de [u8],
        visit_byte_buf: Vec<u8>,
    }

    fn visit_none<E: Error>(self) -> Result<Self::Value, E> {
        self.0.visit_none()
    }

    fn visit_unit<E: Error>(self) -> Result<Self::Value, E> {
        self.0.visit_unit()
    }

    fn visit_some<D: Deserializer<'de>>(self, reader: D) -> Result<Self::Value, D::Error> {
        self.0.visit_some(Strict(reader))
    }

    fn visit_newtype_struct<D: Deserializer<'de>>(
        self,
        reader: D,
    ) -> Result<Self::Value, D::Error> {
        self.0.visit_newtype_struct(Strict(reader))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, items: A) -> Result<Self::Value, A::Error> {
        self.0.visit_seq(Strict(items))
    }

    fn visit_map<A: MapAccess<'de>>(self, members: A) -> Result<Self::Value, A::Error> {
        self.0.visit_map(Strict(members))
    }

    fn visit_enum<A: EnumAccess<'de>>(self, of: A) -> Result<Self::Value, A::Error> {
        self.0.visit_enum(Strict(of))
    }
}

impl<'de, V: Visitor<'de>> Visitor<'de> for OfStruct<V> {
    type Value = V::Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, members: A) -> Result<Self::Value, A::Error> {
        self.0.visit_map(Strict(members))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, _: A) -> Result<Self::Value, A::Error> {
        Err(A::Error::invalid_type(Unexpected::Seq, &self))
    }
}

impl<'de, S: DeserializeSeed<'de>> DeserializeSeed<'de> for Strict<S> {
    type Value = S::Value;

    fn deserialize<D: Deserializer<'de>>(self, reader: D) -> Result<Self::Value, D::Error> {
        self.0.deserialize(Strict(reader))
    }
}

impl<'de, A: SeqAccess<'de>> SeqAccess<'de> for Strict<A> {
    type Error = A::Error;

    fn next_element_seed<S: DeserializeSeed<'de>>(
        &mut self,
        seed: S,
    ) -> Result<Option<S::Value>, Self::Error> {
        self.0.next_element_seed(Strict(seed))
    }

    fn size_hint(&self) -> Option<usize> {
        self.0.size_hint()
    }
}

impl<'de, A: MapAccess<'de>> MapAccess<'de> for Strict<A> {
    type Error = A::Error;

    fn next_key_seed<S: DeserializeSeed<'de>>(
        &mut self,
        seed: S,
    ) -> Result<Option<S::Value>, Self::Error> {
        self.0.next_key_seed(Strict(seed))
    }

    fn next_value_seed<S: DeserializeSeed<'de>>(
        &mut self,
        seed: S,
    ) -> Result<S::Value, Self::Error> {
        self.0.next_value_seed(Strict(seed))
    }

    fn size_hint(&self) -> Option<usize> {
        self.0.size_hint()
    }
}

impl<'de, A: EnumAccess<'de>> EnumAccess<'de> for Strict<A> {
    type Error = A::Error;
    type Variant = Strict<A::Variant>;

    fn variant_seed<S: DeserializeSeed<'de>>(
        self,
        seed: S,
    ) -> Result<(S::Value, Self::Variant), Self::Error> {
        let (value, variant) = self.0.variant_seed(Strict(seed))?;
        Ok((value, Strict(variant)))
    }
}

impl<'de, A: VariantAccess<'de>> VariantAccess<'de> for Strict<A> {
    type Error = A::Error;

    fn unit_variant(self) -> Result<(), Self::Error> {
        self.0.unit_variant()
    }

    fn newtype_variant_seed<S: DeserializeSeed<'de>>(
        self,
        seed: S,
    ) -> Result<S::Value, Self::Error> {
        self.0.newtype_variant_seed(Strict(seed))
    }

    fn tuple_variant<V: Visitor<'de>>(
        self,
        len: usize,
        visitor: V,
    ) -> Result<V::Value, Self::Error> {
        self.0.tuple_variant(len, Strict(visitor))
    }

    fn struct_variant<V: Visitor<'de>>(
        self,
        fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Self::Error> {
        self.0.struct_variant(fields, OfStruct(visitor))
    }
}

#[cfg(test)]
mod tests {
    use super::{from_json_slice, from_json_str, from_json_value};
    use rstest::rstest;
    use serde::Deserialize;
    use serde_json::value::RawValue;
    use serde_json::{Value, json};
    use std::borrow::Cow;
    use std::collections::BTreeMap;

    #[derive(Debug, PartialEq, Deserialize)]
    #[serde(deny_unknown_fields)]
    struct Outer<'a> {
        #[serde(borrow)]
        name: Cow<'a, str>,
        inner: Option<Inner>,
        #[serde(default)]
        all: Vec<Inner>,
        #[serde(default)]
        by_name: BTreeMap<String, Inner>,
        #[serde(default)]
        one: Option<Choice>,
        #[serde(default)]
        any: Value,
        #[serde(default)]
        pair: Option<(u8, f64)>,
    }

    #[derive(Debug, PartialEq, Deserialize)]
    struct Inner {
        a: u32,
    }

    #[derive(Debug, PartialEq, Deserialize)]
    enum Choice {
        Unit,
        Made { a: u32 },
        Of(Inner),
    }

    #[rstest]
    #[case(r#"["n", {"a": 1}]"#)]
    #[case(r#"{"name": "n", "inner": [1]}"#)]
    #[case(r#"{"name": "n", "all": [{"a": 1}, [1]]}"#)]
    #[case(r#"{"name": "n", "by_name": {"x": [1]}}"#)]
    #[case(r#"{"name": "n", "one": {"Made": [1]}}"#)]
    #[case(r#"{"name": "n", "one": {"Of": [1]}}"#)]
    fn a_list_was_taken_for_an_object(#[case] text: &str) {
        // The reader that does not look takes it.
        assert!(serde_json::from_str::<Outer<'_>>(text).is_ok());
        let said = from_json_str::<Outer<'_>>(text).unwrap_err().to_string();
        assert!(
            said.contains("invalid type: sequence, expected an object"),
            "{said}"
        );
        assert!(from_json_slice::<Outer<'_>>(text.as_bytes()).is_err());
        let value: Value = serde_json::from_str(text).unwrap();
        assert!(from_json_value::<Outer<'static>>(value).is_err());
    }

    #[rstest]
    #[case(json!({"name": "n", "inner": {"a": 1}, "all": [{"a": 2}], "by_name": {"x": {"a": 3}},
        "one": {"Made": {"a": 4}}, "any": [1, {"b": [null, true, "t", 1.5]}], "pair": [1, 2.0]}))]
    #[case(json!({"name": "n", "inner": null, "one": "Unit"}))]
    #[case(json!({"name": "n", "one": {"Of": {"a": 1}}}))]
    fn what_is_as_it_should_be_is_read_as_ever(#[case] value: Value) {
        let text = value.to_string();
        let expected: Outer<'_> = serde_json::from_str(&text).unwrap();
        assert_eq!(from_json_str::<Outer<'_>>(&text).unwrap(), expected);
        assert_eq!(
            from_json_slice::<Outer<'_>>(text.as_bytes()).unwrap(),
            expected
        );
        assert_eq!(from_json_value::<Outer<'_>>(value).unwrap(), expected);
    }

    #[test]
    fn a_raw_value_is_borrowed_as_it_is_written() {
        #[derive(Deserialize)]
        struct Raw<'a> {
            #[serde(borrow)]
            args: &'a RawValue,
        }
        let raw: Raw<'_> = from_json_str(r#"{"args": { "a" :[1] }}"#).unwrap();
        assert_eq!(raw.args.get(), r#"{ "a" :[1] }"#);
    }

    #[rstest]
    #[case(r#"{"name": "n"} x"#)]
    #[case(r#"{"name": "n", "more": 1}"#)]
    #[case("{")]
    fn what_is_wrong_otherwise_stays_wrong(#[case] text: &str) {
        assert!(from_json_str::<Outer<'_>>(text).is_err());
    }
}
