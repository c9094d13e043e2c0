//! Parts that have no server.

use outfitter_core::ToolName;
use proptest::prelude::*;
use rstest::rstest;

use super::name;
use super::path::{Filling, Template};
use super::text::{percent_decode, percent_encode};

#[rstest]
#[case("pets")]
#[case("/a?b=c")]
#[case("/a#b")]
#[case("/a\\b")]
#[case("/a/../b")]
#[case("/./b")]
#[case("/%2e%2E/b")]
#[case("/{a")]
#[case("/a}")]
#[case("/{}")]
#[case("/{a{b}}")]
fn a_template_that_leads_elsewhere_is_none(#[case] text: &str) {
    assert!(Template::parse(text).is_err(), "{text}");
}

fn filled(template: &str, with: &str) -> Option<String> {
    let filling = |_: &str| {
        Ok(Filling {
            encoded: percent_encode(with),
            said: vec![with.to_owned()],
            at: "/with".to_owned(),
        })
    };
    Template::parse(template).unwrap().fill(filling).ok()
}

#[rstest]
#[case("/", "x", Some("/"))]
#[case("/pets/", "x", Some("/pets/"))]
#[case("/a b/ü/{x}:go", "1", Some("/a%20b/%C3%BC/1:go"))]
#[case("/%41/{x}", "1", Some("/%41/1"))]
#[case("/{a}{b}", ".", None)]
#[case("/.{a}", ".", None)]
#[case("/{a}", "..", None)]
#[case("/{a}", "...", Some("/..."))]
#[case("/{a}.json", ".", None)]
fn a_template_is_filled(#[case] template: &str, #[case] with: &str, #[case] path: Option<&str>) {
    assert_eq!(filled(template, with).as_deref(), path);
}

#[rstest]
#[case("getPet", "call_shop_getPet")]
#[case(
    "read_item_items__item_id__get",
    "call_shop_read_item_items_item_id_get"
)]
#[case("get /pets/{petId}", "call_shop_get_pets_petId")]
#[case("__a__", "call_shop_a")]
#[case("a.b:c-d", "call_shop_a_b_c-d")]
fn a_tool_is_called_after_its_operation(#[case] operation: &str, #[case] tool: &str) {
    assert_eq!(name::tool("shop", operation).unwrap().as_str(), tool);
}

proptest! {
    #[test]
    fn what_is_encoded_reads_back(text in ".*") {
        let encoded = percent_encode(&text);
        let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-._~%".contains(&byte);
        prop_assert!(encoded.bytes().all(plain));
        prop_assert_eq!(percent_decode(&encoded), Some(text));
    }

    #[test]
    fn decoding_takes_anything(text in "[%0-9a-f]{0,12}") {
        let _ = percent_decode(&text);
    }

    #[test]
    fn every_name_is_one(operation in ".{0,90}", api in "[A-Za-z0-9-]([A-Za-z0-9-]|_[a-z]){0,12}") {
        prop_assume!(name::valid_api_name(&api));
        if let Some(tool) = name::tool(&api, &operation) {
            let text = tool.as_str();
            prop_assert!(text.len() <= 64 && !text.contains("__"), "{}", text);
            let prefix = format!("call_{api}_");
            prop_assert!(text.starts_with(&prefix));
            prop_assert!(ToolName::new(text).is_ok());
        }
    }

    /// Two long names that begin alike are told apart.
    #[test]
    fn what_is_cut_is_marked(tail in "[a-z]{1,20}", other in "[a-z]{1,20}") {
        let long = "operation".repeat(9);
        let one = name::tool("shop", &format!("{long}{tail}"));
        let two = name::tool("shop", &format!("{long}{other}"));
        prop_assert_eq!(one == two, tail == other);
    }
}
