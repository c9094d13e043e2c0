//! Sources are small, and the file that opens a crate only says what is in it.

use syn::{Attribute, Item};

use crate::workspace::{read, rust_sources, short};

/// From here on a file asks to be two.
const LONG: usize = 400;
/// From here on it has to be.
const TOO_LONG: usize = 500;

#[test]
fn no_file_is_too_long() {
    let mut too_long = Vec::new();
    for path in rust_sources() {
        let lines = read(&path).lines().count();
        if lines > TOO_LONG {
            too_long.push(format!("{} has {lines} lines", short(&path)));
        } else if lines > LONG {
            println!("long: {} has {lines} lines", short(&path));
        }
    }
    assert!(too_long.is_empty(), "{}", too_long.join("\n"));
}

/// `lib.rs` says what is here and re-exports; it does nothing.
#[test]
fn the_file_that_opens_a_crate_does_nothing() {
    let mut faults = Vec::new();
    for path in rust_sources() {
        if !path.ends_with("src/lib.rs") {
            continue;
        }
        let file = syn::parse_file(&read(&path)).unwrap();
        let busy = file.items.iter().filter(|item| !opens_only(item)).count();
        if busy > 0 {
            faults.push(format!("{} does {busy} things itself", short(&path)));
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

fn opens_only(item: &Item) -> bool {
    match item {
        Item::Use(_) | Item::ExternCrate(_) => true,
        Item::Mod(module) => {
            has(&module.attrs, "cfg")
                || module
                    .content
                    .as_ref()
                    .is_none_or(|(_, items)| items.iter().all(opens_only))
        }
        // A procedural macro has to stand at the root of its crate.
        Item::Fn(function) => ["proc_macro", "proc_macro_attribute", "proc_macro_derive"]
            .iter()
            .any(|name| has(&function.attrs, name)),
        _ => false,
    }
}

fn has(attributes: &[Attribute], name: &str) -> bool {
    attributes
        .iter()
        .any(|attribute| attribute.path().is_ident(name))
}

#[test]
fn the_rule_itself_tells_opening_from_doing() {
    for (text, is) in [
        ("mod a;", true),
        ("pub use a::B;", true),
        ("#[doc(hidden)] pub mod hidden { pub use a::B; }", true),
        ("#[cfg(test)] mod tests { fn helper() {} }", true),
        ("#[proc_macro_attribute] pub fn tool() {}", true),
        ("fn helper() {}", false),
        ("pub struct A;", false),
        ("impl A {}", false),
        ("mod a { fn helper() {} }", false),
        ("const A: u8 = 1;", false),
    ] {
        let file = syn::parse_file(text).unwrap();
        assert_eq!(file.items.iter().all(opens_only), is, "{text}");
    }
}
