//! What stands between the parentheses of `#[tool(…)]`.

use proc_macro2::Span;
use syn::ext::IdentExt as _;
use syn::parse::{Parse, ParseStream};
use syn::punctuated::Punctuated;
use syn::spanned::Spanned as _;
use syn::{Error, Ident, LitBool, LitInt, LitStr, Path, Result, Token, Type, parenthesized};

/// The longest name that every provider takes.
const MAX_NAME: usize = 64;

const ROLES: [(&str, &str); 3] = [("guest", "Guest"), ("user", "User"), ("admin", "Admin")];

const EXPOSURES: [(&str, &str); 4] = [
    ("always", "Always"),
    ("listed", "Listed"),
    ("deferred", "Deferred"),
    ("hidden", "Hidden"),
];

const EFFECTS: [(&str, &str); 7] = [
    ("read", "Read"),
    ("write", "Write"),
    ("write_outside", "WriteOutside"),
    ("exec", "Exec"),
    ("network", "Network"),
    ("message", "Message"),
    ("message_other", "MessageOther"),
];

/// Options, as they were written. Variants are identifiers of the enums of the core crate.
#[derive(Default)]
pub(crate) struct Options {
    pub(crate) name: Option<LitStr>,
    pub(crate) description: Option<LitStr>,
    pub(crate) effects: Option<Vec<Ident>>,
    pub(crate) min_role: Option<Ident>,
    pub(crate) exposure: Option<Ident>,
    pub(crate) timeout_seconds: Option<LitInt>,
    pub(crate) idempotent: bool,
    pub(crate) keywords: Vec<LitStr>,
    pub(crate) output: Option<Type>,
    pub(crate) register: Option<LitBool>,
    pub(crate) krate: Option<Path>,
}

impl Parse for Options {
    fn parse(input: ParseStream<'_>) -> Result<Self> {
        let mut options = Self::default();
        let mut seen: Vec<String> = Vec::new();
        while !input.is_empty() {
            let key = input.call(Ident::parse_any)?;
            let word = key.to_string();
            if seen.contains(&word) {
                return Err(Error::new(key.span(), format!("`{word}` is given twice")));
            }
            options.take(&key, &word, input)?;
            seen.push(word);
            if !input.is_empty() {
                input.parse::<Token![,]>()?;
            }
        }
        Ok(options)
    }
}

impl Options {
    fn take(&mut self, key: &Ident, word: &str, input: ParseStream<'_>) -> Result<()> {
        match word {
            "name" => {
                let name: LitStr = value(input)?;
                check_name(&name.value(), name.span())?;
                self.name = Some(name);
            }
            "description" => self.description = Some(value(input)?),
            "effects" => self.effects = Some(effects(input)?),
            "min_role" => self.min_role = Some(variant(&value(input)?, &ROLES)?),
            "exposure" => self.exposure = Some(variant(&value(input)?, &EXPOSURES)?),
            "timeout_seconds" => self.timeout_seconds = Some(seconds(input)?),
            "idempotent" => self.idempotent = true,
            "keywords" => self.keywords = listed::<LitStr>(input)?,
            "output" => self.output = Some(value(input)?),
            "register" => self.register = Some(value(input)?),
            "crate" => self.krate = Some(path(input)?),
            _ => {
                return Err(Error::new(
                    key.span(),
                    format!(
                        "`{word}` is no option of a tool; there are name, description, effects, \
                         min_role, exposure, timeout_seconds, idempotent, keywords, output, \
                         register, crate"
                    ),
                ));
            }
        }
        Ok(())
    }
}

/// Checks a name that a tool would have.
pub(crate) fn check_name(name: &str, span: Span) -> Result<()> {
    let fits = (1..=MAX_NAME).contains(&name.len())
        && name
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-');
    if !fits {
        return Err(Error::new(
            span,
            format!("a tool's name is 1 to {MAX_NAME} characters of A-Z a-z 0-9 _ -"),
        ));
    }
    if name.contains("__") {
        return Err(Error::new(
            span,
            "a name with `__` in it is kept for tools of remote sources",
        ));
    }
    Ok(())
}

fn value<T: Parse>(input: ParseStream<'_>) -> Result<T> {
    input.parse::<Token![=]>()?;
    input.parse()
}

/// A path that may begin with `crate`.
fn path(input: ParseStream<'_>) -> Result<Path> {
    input.parse::<Token![=]>()?;
    Path::parse_mod_style(input)
}

fn listed<T: Parse>(input: ParseStream<'_>) -> Result<Vec<T>> {
    let content;
    parenthesized!(content in input);
    Ok(Punctuated::<T, Token![,]>::parse_terminated(&content)?
        .into_iter()
        .collect())
}

fn seconds(input: ParseStream<'_>) -> Result<LitInt> {
    let seconds: LitInt = value(input)?;
    if seconds.base10_parse::<u64>()? == 0 {
        return Err(Error::new(seconds.span(), "a tool needs some time"));
    }
    Ok(seconds)
}

fn effects(input: ParseStream<'_>) -> Result<Vec<Ident>> {
    listed::<Ident>(input)?
        .iter()
        .map(|effect| choose(&effect.to_string(), effect.span(), &EFFECTS))
        .collect()
}

fn variant(word: &LitStr, choices: &[(&str, &str)]) -> Result<Ident> {
    choose(&word.value(), word.span(), choices)
}

fn choose(word: &str, span: Span, choices: &[(&str, &str)]) -> Result<Ident> {
    choices
        .iter()
        .find(|(choice, _)| *choice == word)
        .map(|(_, variant)| Ident::new(variant, span))
        .ok_or_else(|| {
            let words: Vec<&str> = choices.iter().map(|(choice, _)| *choice).collect();
            Error::new(span, format!("`{word}` is none of {}", words.join(", ")))
        })
}

/// The path of the module that holds everything the written code names.
pub(crate) fn private(options: &Options) -> proc_macro2::TokenStream {
    match &options.krate {
        Some(path) => {
            let span = path.span();
            quote::quote_spanned!(span=> #path::__private)
        }
        None => quote::quote!(::outfitter::__private),
    }
}
