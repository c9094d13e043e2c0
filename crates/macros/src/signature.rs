//! What the parameters of the function say.

use syn::ext::IdentExt as _;
use syn::spanned::Spanned as _;
use syn::{Attribute, Error, FnArg, Ident, ItemFn, Pat, PatType, Result, Safety, Type, TypePath};

use crate::docs;

/// Parameters that would let a model say who it is: `IDENTITY_PARAMETERS` of the core, which no
/// macro can name.
const IDENTITY: [&str; 9] = [
    "stream_id",
    "chat_id",
    "group_id",
    "session_id",
    "user_id",
    "owner",
    "role",
    "tenant",
    "token",
];

/// Types of the standard library and of JSON that are one argument, never a set of them.
const SINGLE: [&str; 27] = [
    "String", "bool", "char", "f32", "f64", "u8", "u16", "u32", "u64", "u128", "usize", "i8",
    "i16", "i32", "i64", "i128", "isize", "Vec", "Option", "Box", "HashMap", "BTreeMap", "HashSet",
    "BTreeSet", "PathBuf", "Value", "Number",
];

/// What the function takes, in the order it takes it.
pub(crate) struct Signature {
    pub(crate) order: Vec<Slot>,
    pub(crate) arguments: Arguments,
}

/// One parameter.
pub(crate) enum Slot {
    Context,
    /// The whole set of arguments.
    Set,
    /// One argument.
    Field(Ident),
}

/// Where the arguments come from.
pub(crate) enum Arguments {
    /// A type of the author's.
    Set(Box<Type>),
    /// The parameters themselves.
    Fields(Vec<Field>),
}

/// A parameter that is one argument.
pub(crate) struct Field {
    pub(crate) attributes: Vec<Attribute>,
    pub(crate) name: Ident,
    pub(crate) ty: Type,
}

/// Reads the signature and takes from it the attributes that are no attributes of parameters.
pub(crate) fn read(function: &mut ItemFn) -> Result<Signature> {
    refuse_odd_functions(function)?;
    let mut parameters = Vec::new();
    for input in &mut function.sig.inputs {
        match input {
            FnArg::Receiver(receiver) => {
                return Err(Error::new(
                    receiver.span(),
                    "a tool is a free function: it has no `self`",
                ));
            }
            FnArg::Typed(parameter) => {
                let attributes = std::mem::take(&mut parameter.attrs);
                parameters.push((attributes, parameter.clone()));
            }
        }
    }
    let single = 1
        == parameters
            .iter()
            .filter(|(_, parameter)| !is_context(&parameter.ty))
            .count();
    let mut order = Vec::new();
    let mut fields = Vec::new();
    let mut set = None;
    for (attributes, parameter) in parameters {
        if is_context(&parameter.ty) {
            order.push(Slot::Context);
            continue;
        }
        refuse_borrowed(&parameter.ty)?;
        if single && attributes.is_empty() && may_be_set(&parameter.ty) {
            order.push(Slot::Set);
            set = Some(parameter.ty);
        } else {
            let field = field(attributes, &parameter)?;
            order.push(Slot::Field(field.name.clone()));
            fields.push(field);
        }
    }
    Ok(Signature {
        order,
        arguments: match set {
            Some(ty) => Arguments::Set(ty),
            None => Arguments::Fields(fields),
        },
    })
}

fn refuse_odd_functions(function: &ItemFn) -> Result<()> {
    let signature = &function.sig;
    if let Some(parameter) = signature.generics.type_params().next() {
        return Err(Error::new(
            parameter.span(),
            "a tool has one schema, so it has no type parameters",
        ));
    }
    if let Some(parameter) = signature.generics.const_params().next() {
        return Err(Error::new(
            parameter.span(),
            "a tool has one schema, so it has no const parameters",
        ));
    }
    if matches!(signature.safety, Safety::Unsafe(_)) {
        return Err(Error::new(
            signature.safety.span(),
            "a tool cannot be unsafe to call",
        ));
    }
    if let Some(variadic) = &signature.variadic {
        return Err(Error::new(variadic.span(), "a tool has named arguments"));
    }
    Ok(())
}

fn refuse_borrowed(ty: &Type) -> Result<()> {
    match ty {
        Type::Reference(_) => Err(Error::new(
            ty.span(),
            "arguments are owned: take String for &str; only the context is `&ToolContext`",
        )),
        Type::Path(path) if ends_in(path, "ToolContext") => Err(Error::new(
            ty.span(),
            "the context is borrowed: take `&ToolContext`",
        )),
        _ => Ok(()),
    }
}

fn is_context(ty: &Type) -> bool {
    match ty {
        Type::Reference(reference) => match &*reference.elem {
            Type::Path(path) => ends_in(path, "ToolContext"),
            _ => false,
        },
        _ => false,
    }
}

fn ends_in(path: &TypePath, name: &str) -> bool {
    path.path
        .segments
        .last()
        .is_some_and(|segment| segment.ident == name)
}

/// Whether a type can be the whole set of arguments. The macro sees only its name.
fn may_be_set(ty: &Type) -> bool {
    match ty {
        Type::Path(path) => !SINGLE.iter().any(|single| ends_in(path, single)),
        _ => false,
    }
}

fn field(attributes: Vec<Attribute>, parameter: &PatType) -> Result<Field> {
    let Pat::Ident(pattern) = &*parameter.pat else {
        return Err(Error::new(
            parameter.pat.span(),
            "an argument needs a name; a pattern can only stand for the whole set of arguments",
        ));
    };
    let name = pattern.ident.clone();
    if IDENTITY.iter().any(|identity| name.unraw() == identity) {
        return Err(Error::new(
            name.span(),
            format!("`{name}` would say who acts; take it from `&ToolContext`"),
        ));
    }
    for attribute in &attributes {
        let known = docs::is_doc(attribute)
            || attribute.path().is_ident("serde")
            || attribute.path().is_ident("schemars");
        if !known {
            return Err(Error::new(
                attribute.span(),
                "an argument takes a doc comment, `#[serde(…)]` and `#[schemars(…)]`",
            ));
        }
    }
    Ok(Field {
        attributes,
        name,
        ty: Type::clone(&parameter.ty),
    })
}
