//! Values of options that are more than text.

use std::path::PathBuf;
use std::str::FromStr;

/// A provider and a model of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ModelName {
    /// The provider.
    pub provider: String,
    /// The model's name there, which may have slashes of its own.
    pub name: String,
}

impl FromStr for ModelName {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        match text.split_once('/') {
            Some((provider, name)) if !provider.is_empty() && !name.is_empty() => Ok(Self {
                provider: provider.to_owned(),
                name: name.to_owned(),
            }),
            _ => Err("it must be PROVIDER/NAME"),
        }
    }
}

/// Where the arguments of a call stand.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ToolArguments {
    /// In the option itself.
    Inline(String),
    /// In a file.
    File(PathBuf),
    /// On stdin.
    Stdin,
}

impl FromStr for ToolArguments {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        Ok(match text.strip_prefix('@') {
            Some("") => return Err("a file name must follow the @"),
            Some(path) => Self::File(path.into()),
            None if text == "-" => Self::Stdin,
            None => Self::Inline(text.to_owned()),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rstest::rstest;

    #[rstest]
    #[case("openai/gpt-5", Some(("openai", "gpt-5")))]
    #[case("openai/meta/llama", Some(("openai", "meta/llama")))]
    #[case("openai", None)]
    #[case("/gpt-5", None)]
    #[case("openai/", None)]
    fn only_the_first_slash_separates(#[case] text: &str, #[case] parts: Option<(&str, &str)>) {
        let parsed = text.parse::<ModelName>().ok();
        assert_eq!(
            parsed
                .as_ref()
                .map(|m| (m.provider.as_str(), m.name.as_str())),
            parts
        );
    }

    #[test]
    fn arguments_stand_inline_in_a_file_or_on_stdin() {
        let read = |text: &str| text.parse::<ToolArguments>();
        assert_eq!(read("{}"), Ok(ToolArguments::Inline("{}".to_owned())));
        assert_eq!(read("@a.json"), Ok(ToolArguments::File("a.json".into())));
        assert_eq!(read("-"), Ok(ToolArguments::Stdin));
        assert!(read("@").is_err());
    }
}
