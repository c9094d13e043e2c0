//! The code that stands beside the function.

use proc_macro2::{Span, TokenStream};
use quote::{format_ident, quote, quote_spanned};
use syn::ext::IdentExt as _;
use syn::spanned::Spanned as _;
use syn::{Attribute, Error, Ident, ItemFn, LitStr, Result, ReturnType};

use crate::docs;
use crate::options::{Options, check_name, private};
use crate::signature::{Arguments, Field, Signature, Slot, read};

/// The function and its tool, or the function and an error.
pub(crate) fn tool(options: TokenStream, function: &TokenStream) -> TokenStream {
    let mut function: ItemFn = match syn::parse2(function.clone()) {
        Ok(function) => function,
        Err(_) => {
            let error = Error::new(Span::call_site(), "#[tool] stands before a function")
                .to_compile_error();
            return quote!(#function #error);
        }
    };
    let code = syn::parse2(options).and_then(|options: Options| {
        read(&mut function).and_then(|read| beside(&options, &function, &read))
    });
    let code = code.unwrap_or_else(|error| {
        // Whatever is wrong, attributes on parameters would be a second error of no use.
        for input in &mut function.sig.inputs {
            if let syn::FnArg::Typed(parameter) = input {
                parameter.attrs.clear();
            }
        }
        error.to_compile_error()
    });
    // Arguments are owned because they were read for this call, whatever the function does to them.
    quote! {
        #[allow(clippy::needless_pass_by_value)]
        #function
        #code
    }
}

fn beside(options: &Options, function: &ItemFn, signature: &Signature) -> Result<TokenStream> {
    let private = private(options);
    let ident = &function.sig.ident;
    let vis = &function.vis;
    let name = name(options, ident)?;
    let spec = spec(options, function, &private, &name)?;
    let (arguments, arguments_type) = arguments(&signature.arguments, &private);
    let call = call(function, signature, &private);
    let register = options.register.as_ref().is_none_or(|flag| flag.value);
    let register = register.then(|| {
        quote! {
            #private::inventory::submit! {
                #private::NativeTool { package: ::core::env!("CARGO_PKG_NAME"), make: #ident::tool }
            }
        }
    });
    // What keeps the function out keeps its tool out.
    let cfg: Vec<&Attribute> = function
        .attrs
        .iter()
        .filter(|attribute| attribute.path().is_ident("cfg"))
        .collect();
    let doc = format!(
        "The tool `{}`, written as the function of this name.",
        name.value()
    );

    Ok(quote! {
        #(#cfg)*
        #[doc = #doc]
        #[allow(non_camel_case_types)]
        #vis struct #ident {}

        #(#cfg)*
        const _: () = {
            #arguments

            struct __OutfitterTool {
                spec: #private::core::ToolSpec,
            }

            impl #ident {
                /// Makes the tool.
                #[must_use]
                #vis fn tool() -> ::std::sync::Arc<dyn #private::core::Tool> {
                    let input_schema = #private::input_schema::<#arguments_type>();
                    ::std::sync::Arc::new(__OutfitterTool { spec: #spec })
                }
            }

            #[#private::async_trait]
            impl #private::core::Tool for __OutfitterTool {
                fn spec(&self) -> &#private::core::ToolSpec {
                    &self.spec
                }

                async fn call(
                    &self,
                    __outfitter_context: &#private::core::ToolContext,
                    __outfitter_arguments: #private::serde_json::Value,
                ) -> ::core::result::Result<#private::core::Reply, #private::core::ToolError> {
                    let __outfitter_arguments: #arguments_type =
                        #private::read_arguments(__outfitter_arguments)?;
                    #call
                }
            }

            #register
        };
    })
}

fn name(options: &Options, ident: &Ident) -> Result<LitStr> {
    if let Some(name) = &options.name {
        return Ok(name.clone());
    }
    let name = ident.unraw().to_string();
    check_name(&name, ident.span())?;
    Ok(LitStr::new(&name, ident.span()))
}

fn spec(
    options: &Options,
    function: &ItemFn,
    private: &TokenStream,
    name: &LitStr,
) -> Result<TokenStream> {
    let description = match &options.description {
        Some(text) => text.value(),
        None => docs::text(&function.attrs),
    };
    if description.trim().is_empty() {
        return Err(Error::new(
            function.sig.ident.span(),
            "a tool needs a description: a doc comment, or `description = \"…\"`",
        ));
    }
    let mut rest = Vec::new();
    if let Some(effects) = &options.effects {
        rest.push(
            quote!(effects: #private::core::Effects::of(&[#(#private::core::Effect::#effects),*])),
        );
    }
    if let Some(role) = &options.min_role {
        rest.push(quote!(min_role: #private::core::Role::#role));
    }
    if let Some(exposure) = &options.exposure {
        rest.push(quote!(exposure: #private::core::Exposure::#exposure));
    }
    if let Some(seconds) = &options.timeout_seconds {
        let seconds: u64 = seconds.base10_parse()?;
        rest.push(quote! {
            timeout: ::core::option::Option::Some(::core::time::Duration::from_secs(#seconds))
        });
    }
    if options.idempotent {
        rest.push(quote!(idempotent: true));
    }
    if !options.keywords.is_empty() {
        let words = &options.keywords;
        rest.push(quote!(keywords: ::std::vec![#(::std::convert::From::from(#words)),*]));
    }
    if let Some(ty) = &options.output {
        rest.push(quote! {
            output_schema: ::core::option::Option::Some(::std::sync::Arc::new(#private::output_schema::<#ty>()))
        });
    }
    Ok(quote! {
        #private::core::ToolSpec {
            #(#rest,)*
            ..#private::core::ToolSpec::new(
                #private::native_name(#name),
                #description,
                input_schema,
            )
        }
    })
}

/// The type of the arguments, written out where it is not the author's.
fn arguments(arguments: &Arguments, private: &TokenStream) -> (TokenStream, TokenStream) {
    let fields = match arguments {
        Arguments::Set(ty) => return (TokenStream::new(), quote!(#ty)),
        Arguments::Fields(fields) => fields.iter().map(
            |Field {
                 attributes,
                 name,
                 ty,
             }| quote!(#(#attributes)* #name: #ty),
        ),
    };
    let serde = quote!(#private::serde).to_string();
    let schemars = quote!(#private::schemars).to_string();
    let code = quote! {
        #[derive(#private::serde::Deserialize, #private::schemars::JsonSchema)]
        #[serde(crate = #serde, deny_unknown_fields)]
        #[schemars(crate = #schemars)]
        struct __OutfitterArguments {
            #(#fields,)*
        }
    };
    (code, quote!(__OutfitterArguments))
}

/// The call of the function, and what becomes of what it returns.
fn call(function: &ItemFn, signature: &Signature, private: &TokenStream) -> TokenStream {
    let ident = &function.sig.ident;
    let given = signature.order.iter().map(|slot| match slot {
        Slot::Context => quote!(__outfitter_context),
        Slot::Set => quote!(__outfitter_arguments),
        Slot::Field(name) => {
            let bound = format_ident!("__outfitter_{}", name);
            quote!(#bound)
        }
    });
    let taken = match &signature.arguments {
        Arguments::Set(_) => TokenStream::new(),
        Arguments::Fields(fields) => {
            let bindings = fields.iter().map(|field| {
                let (name, bound) = (&field.name, format_ident!("__outfitter_{}", field.name));
                quote!(#name: #bound)
            });
            quote!(let __OutfitterArguments { #(#bindings,)* } = __outfitter_arguments;)
        }
    };
    let wait = function.sig.asyncness.map(|_| quote!(.await));
    // Errors about the type that is returned should point at it.
    let span = match &function.sig.output {
        ReturnType::Default => ident.span(),
        ReturnType::Type(_, ty) => ty.span(),
    };
    let reply = quote_spanned! {span=>
        match (&__outfitter_value).outfitter_shape().split(__outfitter_value) {
            ::core::result::Result::Ok(__outfitter_value) => {
                (&__outfitter_value).outfitter_kind().reply(__outfitter_value)
            }
            ::core::result::Result::Err(__outfitter_error) => ::core::result::Result::Err(
                (&__outfitter_error).outfitter_error().error(__outfitter_error),
            ),
        }
    };
    quote! {
        #[allow(unused_imports)]
        use #private::{
            JsonKind as _, PlainShape as _, ReplyKind as _, ResultShape as _,
            TextErrorKind as _, ToolErrorKind as _,
        };
        #taken
        let __outfitter_value = #ident(#(#given),*)#wait;
        #reply
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rstest::rstest;

    fn expanded(options: &str, function: &str) -> String {
        let parse = |text: &str| text.parse::<TokenStream>().unwrap();
        let code = tool(parse(options), &parse(function));
        // What is written is always code, also beside an error.
        syn::parse2::<syn::File>(code.clone()).unwrap();
        code.to_string()
    }

    #[rstest]
    #[case("", "/// Adds. \n fn add(a: i64, b: i64) -> i64 { a + b }")]
    #[case(
        "name = \"x-1\", crate = crate::inner",
        "/// Doc.\n async fn f(args: Args) {}"
    )]
    #[case(
        "description = \"d\", effects(read, exec), min_role = \"admin\", exposure = \"always\", \
         timeout_seconds = 9, idempotent, keywords(\"a\", \"b\"), output = Vec<u8>, register = false",
        "pub(crate) async fn f(cx: &ToolContext, #[serde(default)] n: u8) {}"
    )]
    fn a_function_becomes_a_tool(#[case] options: &str, #[case] function: &str) {
        let code = expanded(options, function);
        assert!(!code.contains("compile_error"), "{code}");
    }

    #[rstest]
    #[case("", "struct S;", "stands before a function")]
    #[case("", "fn f() {}", "needs a description")]
    #[case("nmae = \"x\"", "/// D.\n fn f() {}", "`nmae` is no option")]
    #[case("name = \"a b\"", "/// D.\n fn f() {}", "1 to 64 characters")]
    #[case("name = \"a__b\"", "/// D.\n fn f() {}", "remote sources")]
    #[case("name = \"a\", name = \"b\"", "/// D.\n fn f() {}", "given twice")]
    #[case(
        "effects(wirte)",
        "/// D.\n fn f() {}",
        "`wirte` is none of read, write"
    )]
    #[case(
        "min_role = \"root\"",
        "/// D.\n fn f() {}",
        "none of guest, user, admin"
    )]
    #[case("timeout_seconds = 0", "/// D.\n fn f() {}", "needs some time")]
    #[case("", "/// D.\n fn f(&self) {}", "no `self`")]
    #[case("", "/// D.\n fn f<T>(a: T) {}", "no type parameters")]
    #[case("", "/// D.\n fn f(city: &str) {}", "take String for &str")]
    #[case("", "/// D.\n fn f(cx: ToolContext) {}", "`&ToolContext`")]
    #[case("", "/// D.\n fn f(user_id: String) {}", "would say who acts")]
    #[case("", "/// D.\n fn f((a, b): (u8, u8)) {}", "needs a name")]
    #[case("", "/// D.\n fn f(#[cfg(x)] a: u8) {}", "takes a doc comment")]
    fn what_cannot_be_a_tool_says_why(
        #[case] options: &str,
        #[case] function: &str,
        #[case] why: &str,
    ) {
        let code = expanded(options, function);
        assert!(code.contains("compile_error"), "{code}");
        assert!(code.contains(why), "{code}");
    }
}
