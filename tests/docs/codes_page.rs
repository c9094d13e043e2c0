//! The table of `docs/errors.md`.

use outfitter::Code;

use crate::page::page;

#[test]
fn the_table_of_codes_is_the_one_in_the_code() {
    let page = page("docs/errors.md");
    let rows: Vec<[&str; 3]> = page
        .text
        .lines()
        .filter_map(|line| {
            let cells: Vec<&str> = line.split('|').map(str::trim).collect();
            let [_, code, meaning, exit, again, _] = cells.as_slice() else {
                return None;
            };
            let code = code.strip_prefix('`')?.strip_suffix('`')?;
            assert!(!meaning.is_empty(), "{code} has no meaning");
            Some([code, *exit, *again])
        })
        .collect();
    let expected: Vec<[String; 3]> = Code::ALL
        .iter()
        .map(|code| {
            let again = if code.retryable() { "yes" } else { "" };
            [code.to_string(), code.exit().to_string(), again.to_owned()]
        })
        .collect();
    assert_eq!(rows, expected);
}
