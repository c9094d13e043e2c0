//! SPDX licence expressions, as far as packages write them: `AND`, `OR`, `WITH`, parentheses, and
//! the old `/` for `OR`.

/// Whether `expression` can be met with the licences that `allowed` accepts.
pub(crate) fn met(expression: &str, allowed: &dyn Fn(&str) -> bool) -> bool {
    let spaced = expression
        .replace('(', " ( ")
        .replace(')', " ) ")
        .replace('/', " OR ");
    let words: Vec<&str> = spaced.split_whitespace().collect();
    let mut reader = Reader { words: &words };
    let value = reader.any(allowed);
    value && reader.words.is_empty()
}

struct Reader<'a> {
    words: &'a [&'a str],
}

impl Reader<'_> {
    fn take(&mut self, word: &str) -> bool {
        let is = self.words.first() == Some(&word);
        if is {
            self.words = &self.words[1..];
        }
        is
    }

    fn any(&mut self, allowed: &dyn Fn(&str) -> bool) -> bool {
        let mut value = self.all(allowed);
        while self.take("OR") {
            value |= self.all(allowed);
        }
        value
    }

    fn all(&mut self, allowed: &dyn Fn(&str) -> bool) -> bool {
        let mut value = self.one(allowed);
        while self.take("AND") {
            value &= self.one(allowed);
        }
        value
    }

    fn one(&mut self, allowed: &dyn Fn(&str) -> bool) -> bool {
        if self.take("(") {
            let value = self.any(allowed);
            return self.take(")") && value;
        }
        let Some((&name, rest)) = self.words.split_first() else {
            return false;
        };
        self.words = rest;
        match self.words {
            ["WITH", exception, rest @ ..] => {
                let name = format!("{name} WITH {exception}");
                self.words = rest;
                allowed(&name)
            }
            _ => allowed(name),
        }
    }
}

#[test]
fn expressions_are_read_as_spdx_means_them() {
    let allowed = |name: &str| ["MIT", "ISC"].contains(&name);
    for (expression, is) in [
        ("MIT", true),
        ("GPL-3.0", false),
        ("GPL-3.0 OR MIT", true),
        ("GPL-3.0/MIT", true),
        ("GPL-3.0 AND MIT", false),
        ("MIT OR GPL-3.0 AND GPL-2.0", true),
        ("(MIT OR GPL-3.0) AND ISC", true),
        ("(MIT OR GPL-3.0) AND GPL-2.0", false),
        ("MIT WITH Some-exception", false),
        ("", false),
        ("(MIT", false),
        ("MIT ISC", false),
    ] {
        assert_eq!(met(expression, &allowed), is, "{expression}");
    }
}
