//! Items without their bodies and comments, one line for each thing a user can name.

use std::collections::BTreeSet;

use quote::ToTokens;
use syn::{
    Attribute, Fields, ImplItem, Item, ItemEnum, ItemImpl, ItemStruct, ItemTrait, TraitItem, Type,
    Visibility,
};

/// The item, if it belongs to one of `names`. The names that were met are added to `found`.
pub(crate) fn item(
    item: &Item,
    names: &BTreeSet<String>,
    found: &mut BTreeSet<String>,
) -> Option<String> {
    let mut met = |name: String| {
        let ours = names.contains(&name);
        if ours {
            found.insert(name);
        }
        ours
    };
    match item {
        Item::Struct(item) if met(item.ident.to_string()) => Some(structure(item)),
        Item::Enum(item) if met(item.ident.to_string()) => Some(enumeration(item)),
        Item::Trait(item) if met(item.ident.to_string()) => Some(interface(item)),
        Item::Fn(item) if met(item.sig.ident.to_string()) => {
            Some(format!("pub {}", tidy(&item.sig)))
        }
        Item::Type(item) if met(item.ident.to_string()) => Some(format!(
            "pub type {} = {}",
            tidy(&item.ident),
            tidy(&item.ty)
        )),
        Item::Const(item) if met(item.ident.to_string()) => Some(format!(
            "pub const {}: {}",
            tidy(&item.ident),
            tidy(&item.ty)
        )),
        Item::Use(item) if matches!(item.vis, Visibility::Public(_)) => {
            let text = tidy(&item.tree);
            let name = text.rsplit(':').next().unwrap_or_default();
            met(name.to_owned()).then(|| format!("pub use {text}"))
        }
        Item::Impl(item) => implementation(item, names),
        Item::Macro(item) => {
            let text = tidy(&item.mac.tokens);
            let words: Vec<&str> = text
                .split(|c: char| !c.is_alphanumeric() && c != '_')
                .collect();
            for name in names.iter().filter(|name| words.contains(&name.as_str())) {
                met(name.clone());
            }
            let name = item.ident.as_ref().map(|ident| format!(" {ident}"));
            let head = format!("{}!{}", tidy(&item.mac.path), name.unwrap_or_default());
            Some(format!("{head} {{ {} }}", undocumented(&text)))
        }
        _ => None,
    }
}

fn structure(item: &ItemStruct) -> String {
    let head = format!(
        "{}pub struct {}{}",
        attributes(&item.attrs),
        item.ident,
        tidy(&item.generics)
    );
    head + &fields(&item.fields)
}

fn enumeration(item: &ItemEnum) -> String {
    let mut text = format!("{}pub enum {} {{\n", attributes(&item.attrs), item.ident);
    for variant in &item.variants {
        let body = fields(&variant.fields).replace('\n', "\n    ");
        let attributes = attributes(&variant.attrs).replace('\n', "\n    ");
        text.push_str(&format!("    {attributes}{}{body}\n", variant.ident));
    }
    text + "}"
}

/// Private fields are told as there being some: they decide whether others can make a value.
fn fields(fields: &Fields) -> String {
    let shown = |field: &syn::Field| {
        let private = matches!(field.vis, Visibility::Inherited);
        let name = field.ident.as_ref().map(|name| format!("{name}: "));
        let visibility = if private { "" } else { "pub " };
        let attributes = attributes(&field.attrs).replace('\n', "\n    ");
        format!(
            "{attributes}{visibility}{}{}",
            name.unwrap_or_default(),
            tidy(&field.ty)
        )
    };
    match fields {
        Fields::Unit => String::new(),
        Fields::Unnamed(fields) => {
            let list: Vec<String> = fields.unnamed.iter().map(shown).collect();
            format!("({})", list.join(", "))
        }
        Fields::Named(fields) => {
            let list: String = fields
                .named
                .iter()
                .map(|field| format!("    {}\n", shown(field)))
                .collect();
            format!(" {{\n{list}}}")
        }
    }
}

fn interface(item: &ItemTrait) -> String {
    let colon = if item.supertraits.is_empty() {
        ""
    } else {
        ": "
    };
    let mut text = format!(
        "{}pub trait {}{}{colon}{} {{\n",
        attributes(&item.attrs),
        item.ident,
        tidy(&item.generics),
        tidy(&item.supertraits)
    );
    for member in &item.items {
        text.push_str(&match member {
            TraitItem::Fn(member) => {
                let provided = if member.default.is_some() {
                    " { … }"
                } else {
                    ""
                };
                format!("    {}{provided}\n", tidy(&member.sig))
            }
            other => format!("    {}\n", tidy(other)),
        });
    }
    text + "}"
}

/// Of an inherent implementation what is public; of a trait's, that there is one.
fn implementation(item: &ItemImpl, names: &BTreeSet<String>) -> Option<String> {
    let Type::Path(path) = &*item.self_ty else {
        return None;
    };
    let name = path.path.segments.last()?.ident.to_string();
    if !names.contains(&name) {
        return None;
    }
    let head = format!("impl{}", tidy(&item.generics));
    if let Some((path, _)) = &item.trait_ {
        return Some(format!("{head} {} for {}", tidy(path), tidy(&item.self_ty)));
    }
    let members: String = item
        .items
        .iter()
        .filter_map(|member| match member {
            ImplItem::Fn(member) if matches!(member.vis, Visibility::Public(_)) => {
                Some(format!("    pub {}\n", tidy(&member.sig)))
            }
            ImplItem::Const(member) if matches!(member.vis, Visibility::Public(_)) => {
                let (name, kind) = (&member.ident, tidy(&member.ty));
                Some(format!("    pub const {name}: {kind}\n"))
            }
            _ => None,
        })
        .collect();
    let shown = !members.is_empty();
    shown.then(|| format!("{head} {} {{\n{members}}}", tidy(&item.self_ty)))
}

/// What others can rely on: derived traits, the form on the wire, whether it may grow.
fn attributes(attributes: &[Attribute]) -> String {
    attributes
        .iter()
        .filter(|attribute| {
            ["derive", "serde", "non_exhaustive", "async_trait", "error"]
                .iter()
                .any(|kept| attribute.path().is_ident(kept))
        })
        .map(|attribute| tidy(attribute) + "\n")
        .collect()
}

/// Tokens with the spaces where a reader expects them.
fn tidy(tokens: &impl ToTokens) -> String {
    let mut text = tokens.to_token_stream().to_string().replace('\n', " ");
    for (from, to) in [
        (" ::", "::"),
        (":: ", "::"),
        (" :", ":"),
        (" ,", ","),
        (" ;", ";"),
        (" <", "<"),
        ("< ", "<"),
        (" >", ">"),
        ("& ", "&"),
        (" (", "("),
        ("( ", "("),
        (" )", ")"),
        (" [", "["),
        ("# [", "#["),
        (" !", "!"),
        (",)", ")"),
        ("->(", "-> ("),
        ("=[", "= ["),
    ] {
        text = text.replace(from, to);
    }
    text
}

/// Text of tokens without doc comments.
fn undocumented(text: &str) -> String {
    let mut rest = text;
    let mut out = String::new();
    while let Some(at) = rest.find("#[doc = \"").or_else(|| rest.find("#[doc=\"")) {
        out.push_str(&rest[..at]);
        rest = rest[at..].split_once("\"]").map_or("", |(_, rest)| rest);
    }
    out.push_str(rest);
    out.split_whitespace().collect::<Vec<_>>().join(" ")
}
