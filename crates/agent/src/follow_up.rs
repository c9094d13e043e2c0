//! Prompts that say nothing of their own: they go on with what came before.

/// The longest prompt that only goes on, in words.
const MAX_WORDS: usize = 8;

/// The longest that is looked at, in bytes.
const MAX_BYTES: usize = 200;

/// Words that agree, refuse or say to go on, and those that stand between them.
const WORDS: &[&str] = &[
    "a", "again", "agreed", "ahead", "all", "alright", "and", "carry", "continue", "correct", "do",
    "done", "exactly", "fine", "first", "for", "go", "good", "great", "it", "just", "keep",
    "later", "me", "more", "next", "nice", "no", "nope", "not", "now", "of", "ok", "okay", "on",
    "one", "perfect", "please", "proceed", "resume", "right", "same", "second", "so", "step",
    "sure", "that", "the", "then", "this", "to", "too", "try", "very", "well", "with", "y", "yeah",
    "yep", "yes", "you", "going", "n", "both", "either", "neither", "third", "last", "course",
    "looks", "sounds", "is", "s", "let",
];

/// The same without spaces between words. The longer first, so that each is taken whole.
const CHINESE: &[&str] = &[
    "没有问题",
    "没问题",
    "下一步",
    "下一个",
    "第一个",
    "第二个",
    "接着来",
    "继续吧",
    "请继续",
    "继续",
    "接着",
    "往下",
    "好的",
    "可以",
    "是的",
    "对的",
    "不用",
    "不要",
    "同意",
    "确认",
    "当然",
    "再来",
    "再试",
    "一次",
    "好",
    "是",
    "对",
    "行",
    "嗯",
    "不",
    "请",
    "吧",
    "了",
    "啊",
    "呢",
    "的",
    "你",
    "我",
    "都",
    "就",
    "这个",
    "那个",
    "两个",
];

/// Thanks alone end something rather than go on with it.
const THANKS: &[&str] = &["thank", "thanks", "you", "谢谢", "多谢"];

/// Whether a prompt only goes on: a yes or a no, a number, "go on". Other languages than
/// English and Chinese are not known, and what is not known says something of its own.
pub(crate) fn goes_on(prompt: &str) -> bool {
    if prompt.len() > MAX_BYTES {
        return false;
    }
    let lower = prompt.to_lowercase();
    let words: Vec<&str> = lower
        .split(|c: char| !c.is_alphanumeric())
        .filter(|word| !word.is_empty())
        .collect();
    let thanks = |word: &str| THANKS.contains(&word);
    let only_thanks = !words.is_empty() && words.iter().all(|word| thanks(word));
    words.len() <= MAX_WORDS
        && !only_thanks
        && words.iter().all(|word| thanks(word) || says_nothing(word))
}

fn says_nothing(word: &str) -> bool {
    let number = word.chars().all(|c| c.is_ascii_digit());
    number || WORDS.contains(&word) || is_chinese(word)
}

/// Whether a word is made of nothing but those of the list.
fn is_chinese(word: &str) -> bool {
    let mut rest = word;
    while !rest.is_empty() {
        let Some(after) = CHINESE.iter().find_map(|known| rest.strip_prefix(known)) else {
            return false;
        };
        rest = after;
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;
    use rstest::rstest;

    #[rstest]
    #[case("yes")]
    #[case("Yes, please.")]
    #[case("no")]
    #[case("go on")]
    #[case("Go ahead!")]
    #[case("continue")]
    #[case("keep going")]
    #[case("ok, do it")]
    #[case("OK — and then the next one, please")]
    #[case("yes, thank you")]
    #[case("that's right")]
    #[case("2")]
    #[case("the second one")]
    #[case("👍")]
    #[case("...")]
    #[case("")]
    #[case("继续")]
    #[case("好的，继续吧")]
    #[case("可以，请继续。")]
    #[case("嗯")]
    #[case("没问题，下一步")]
    fn what_says_nothing_of_its_own_goes_on(#[case] prompt: &str) {
        assert!(goes_on(prompt));
    }

    #[rstest]
    #[case("write a poem")]
    #[case("yes, and write a poem about the sea")]
    #[case("hello")]
    #[case("thanks")]
    #[case("Thank you!")]
    #[case("谢谢")]
    #[case("what is the time?")]
    #[case("stop")]
    #[case("weather")]
    #[case("go on holiday")]
    #[case("继续写一首诗")]
    #[case("今天天气怎么样")]
    #[case("да")]
    #[case("yes yes yes yes yes yes yes yes yes")]
    fn what_says_something_begins_anew(#[case] prompt: &str) {
        assert!(!goes_on(prompt));
    }

    #[test]
    fn a_long_prompt_is_not_looked_through() {
        assert!(!goes_on(&"好".repeat(1_000)));
    }
}
