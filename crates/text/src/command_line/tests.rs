use proptest::prelude::*;
use rstest::rstest;

use super::*;

fn programs(line: &str) -> Vec<String> {
    let parsed = parse(line).unwrap_or_else(|error| panic!("{line}: {error}"));
    let first = |command: &Command| command.words.first().map(|word| word.text.clone());
    parsed.commands.iter().filter_map(first).collect()
}

#[rstest]
#[case("ls -l | wc; pwd & id && date || true", &["ls", "wc", "pwd", "id", "date", "true"])]
#[case("echo 'a;b' \"c|d\" e\\;f", &["echo"])]
#[case("echo $(id; rm x) `whoami`", &["echo", "id", "rm", "whoami"])]
#[case("echo \"$(rm \"a b\")\"", &["echo", "rm"])]
#[case("echo '$(rm x)'", &["echo"])]
#[case("cat <<E\n$(rm x)\nE\nid", &["cat", "rm", "id"])]
#[case("cat <<'E'\n$(rm x)\nE\nid", &["cat", "id"])]
#[case("if a; then b; elif c; then d; else e; fi; f", &["a", "b", "c", "d", "e", "f"])]
#[case("for x in $(a) b; do c; done", &["a", "c"])]
#[case("while a; do b; done < f", &["a", "b"])]
#[case("case $x in a|b) c;; *) d;; esac", &["c", "d"])]
#[case("f() { rm x; }; f", &["rm", "f"])]
#[case("(a; b) > f", &["a", "b"])]
#[case("X=1 env -u Y LANG=C sudo -u root id", &["env", "sudo", "id"])]
#[case("bash -c 'rm x; id'", &["bash", "rm", "id"])]
#[case("sh -ec \"nice timeout 5 rm x\"", &["sh", "nice", "timeout", "rm"])]
#[case("ls | xargs -n 1 rm -rf", &["ls", "xargs", "rm"])]
#[case("find . -name '*.o' -exec rm {} \\;", &["find", "rm"])]
#[case("eval 'rm x'", &["eval", "rm"])]
#[case("diff <(a) <(b)", &["diff", "a", "b"])]
#[case("r\\\nm x", &["rm"])]
#[case("echo $((1 + (2)))", &["echo"])]
#[case("git submodule foreach 'rm x'", &["git", "rm"])]
#[case("# rm x\nls # id", &["ls"])]
fn every_command_of_a_line_is_found(#[case] line: &str, #[case] expected: &[&str]) {
    assert_eq!(programs(line), expected);
}

#[rstest]
#[case("echo 'a")]
#[case("a &&")]
#[case("a | | b")]
#[case("(a")]
#[case("a)")]
#[case("if a; then b")]
#[case("echo $((rm) | (ls))")]
#[case("ls &>/dev/null rm -rf x")]
#[case("echo $'a\\'b'")]
#[case("echo ${x@P}")]
#[case("a=(1 2)")]
#[case("echo $(cat <<E)\nx\nE")]
#[case(";; ls")]
#[case("a\0b")]
fn what_shells_refuse_or_read_differently_is_not_read(#[case] line: &str) {
    assert!(parse(line).is_err(), "{:?}", parse(line));
}

#[rstest]
#[case("read PATH", true)]
#[case("read -r line", false)]
#[case("getopts ab PATH", true)]
#[case("mapfile -t BASH_ENV", true)]
#[case("printf -v PATH x", true)]
#[case("printf -vPATH x", true)]
#[case("printf PATH", false)]
#[case("export PATH=x", true)]
#[case("export LANG=C", false)]
#[case("export $X", true)]
#[case("export x=$X", false)]
#[case("declare -x PATH=x", true)]
#[case("local http_proxy=x", true)]
#[case("for i in 1 2; do true; done", false)]
#[case("for PATH in 1 2; do true; done", true)]
#[case("echo ${i:=1}", false)]
#[case("echo ${IFS:=1}", true)]
#[case("echo $((IFS += 1))", true)]
#[case("echo $((IFS <<= 1))", true)]
#[case("echo $((IFS == 1))", false)]
fn what_sets_a_variable_that_matters_is_an_assignment(#[case] line: &str, #[case] sets: bool) {
    let parsed = parse(line).unwrap();
    let mut names = parsed
        .commands
        .iter()
        .flat_map(|command| &command.assignments);
    assert_eq!(
        names.any(|set| !is_harmless_variable(&set.name)),
        sets,
        "{parsed:?}"
    );
}

#[rstest]
#[case("git status", Reading::Inside)]
#[case("git --no-pager log --oneline -5", Reading::Inside)]
#[case("git push", Reading::Not)]
#[case("git -c core.pager=rm log", Reading::Not)]
#[case("git diff --output=x", Reading::Not)]
#[case("git branch -D x", Reading::Not)]
#[case("git branch -a", Reading::Inside)]
#[case("find . -name '*.rs'", Reading::Inside)]
#[case("find . -delete", Reading::Not)]
#[case("find . -exec grep x {} +", Reading::Anywhere)]
#[case("find . -exec rm {} +", Reading::Not)]
#[case("find . -fprint x", Reading::Not)]
#[case("sed -n 1,20p f", Reading::Inside)]
#[case("sed 's/a;b/c/' f", Reading::Inside)]
#[case("sed -i 's/a/b/' f", Reading::Not)]
#[case("sed 's/a/b/e' f", Reading::Not)]
#[case("sed 's/a/b/w x' f", Reading::Not)]
#[case("sed '1e rm x' f", Reading::Not)]
#[case("sort f", Reading::Inside)]
#[case("sort -o f f", Reading::Not)]
#[case("sort --out=f f", Reading::Not)]
#[case("ls > f", Reading::Not)]
#[case("ls 2>&1 >/dev/null", Reading::Inside)]
#[case("ls >&f", Reading::Not)]
#[case("ls | tee f", Reading::Not)]
#[case("awk '{print $1}' f", Reading::Inside)]
#[case("awk 'BEGIN{system(\"rm x\")}'", Reading::Not)]
#[case("for PATH in bin; do ls; done", Reading::Not)]
#[case("for HOME in /; do cd; cat x; done", Reading::Not)]
#[case("select CDPATH in /; do cd etc; done", Reading::Not)]
#[case("for x in a b; do ls; done", Reading::Inside)]
#[case(": ${PATH:=x}", Reading::Not)]
#[case("echo $((PATH=1))", Reading::Not)]
#[case("printf -v PATH x", Reading::Not)]
#[case("read PATH", Reading::Not)]
#[case("cd; cat x", Reading::Anywhere)]
#[case("cd -", Reading::Anywhere)]
#[case("cd a", Reading::Inside)]
#[case("env -S 'cat x'", Reading::Inside)]
#[case("env --split-string='rm x'", Reading::Not)]
#[case("find . -exec env -S'rm x' {} +", Reading::Not)]
#[case("cat .?/x", Reading::Anywhere)]
#[case("cat .*/x", Reading::Anywhere)]
#[case("cat a/.[.]/../x", Reading::Anywhere)]
#[case("cat .[.]/x", Reading::Anywhere)]
#[case("cat .[!x]/x", Reading::Anywhere)]
#[case("cat [.]?/x", Reading::Anywhere)]
#[case("ls .git*", Reading::Inside)]
#[case("ls *.rs a?", Reading::Inside)]
#[case("ps aux", Reading::Inside)]
#[case("ps -ef", Reading::Inside)]
#[case("ps -eo pid,time", Reading::Inside)]
#[case("ps e", Reading::Not)]
#[case("cargo --version", Reading::Not)]
#[case("rustc --version", Reading::Not)]
#[case("gcc --version", Reading::Inside)]
#[case("ps axe", Reading::Not)]
#[case("ps auxe", Reading::Not)]
#[case("ps -auxe", Reading::Not)]
#[case("ps -e e", Reading::Not)]
#[case("ps -E", Reading::Not)]
#[case("jq .a f", Reading::Inside)]
#[case("jq -n 'import \"/etc/x\" as $x; $x'", Reading::Not)]
#[case("jq 'include \"../x\"; .'", Reading::Not)]
#[case("jq -L lib . f", Reading::Not)]
#[case("jq -f p f", Reading::Not)]
#[case("jq --slurpfile a /etc/x . f", Reading::Anywhere)]
#[case("strings f", Reading::Inside)]
#[case("strings @f", Reading::Not)]
#[case("wc --files0-from=f", Reading::Not)]
#[case("sort --files0-from f", Reading::Not)]
#[case("sha256sum -c f", Reading::Not)]
#[case("file -f f", Reading::Not)]
#[case("awk 'BEGIN{ARGV[1]=\"/etc/x\"}' f", Reading::Not)]
#[case("test -v 'a[$(rm x)]'", Reading::Not)]
#[case("[ -v 'a[$(rm x)]' ]", Reading::Not)]
#[case("test -f a", Reading::Inside)]
#[case("echo ${a[x]}", Reading::Not)]
#[case("cat ~/.ssh/id_rsa", Reading::Anywhere)]
#[case("cat ../x", Reading::Anywhere)]
#[case("cat $X", Reading::Anywhere)]
#[case("grep -r --file=/etc/shadow .", Reading::Anywhere)]
#[case("grep 'a|b' f", Reading::Inside)]
#[case("cat < /etc/passwd", Reading::Anywhere)]
#[case("PATH=. ls", Reading::Not)]
#[case("LANG=C ls", Reading::Inside)]
#[case("./ls", Reading::Not)]
#[case("uniq a b", Reading::Not)]
#[case("date -s x", Reading::Not)]
#[case("date +%s", Reading::Inside)]
#[case("bash -c 'ls; rm x'", Reading::Not)]
#[case("bash -c 'ls; wc f'", Reading::Inside)]
#[case("bash x.sh", Reading::Not)]
#[case("python3 -c 'print(1)'", Reading::Not)]
#[case("ls; x=1", Reading::Not)]
#[case("$X", Reading::Not)]
fn a_line_only_reads_where_its_arguments_say_so(#[case] line: &str, #[case] expected: Reading) {
    assert_eq!(Reading::of(&parse(line).unwrap()), expected);
}

#[test]
fn deep_nesting_is_refused_and_not_followed() {
    for (open, close) in [("(", ")"), ("$(", ")"), ("${x:-", "}"), ("{ ", "; }")] {
        let line = format!("{}id{}", open.repeat(50_000), close.repeat(50_000));
        assert!(parse(&line).is_err(), "{open}");
    }
    let mut line = "id".to_owned();
    for _ in 0..10 {
        line = format!("sh -c {}", quoted(&line));
    }
    assert!(!parse(&line).unwrap().commands.is_empty());
}

proptest! {
    #[test]
    fn no_text_makes_it_panic(line in r#"([a-z \\'"$`(){};&|<>\n#=*!é-]|<<E|\$\(|if |do |sh -c |git )*"#) {
        if let Ok(parsed) = parse(&line) {
            let _ = Reading::of(&parsed);
            prop_assert!(parsed.steps <= line.len() * MAX_STEPS_PER_BYTE + 4096);
        }
    }

    #[test]
    fn any_text_at_all_is_taken(line in any::<String>()) {
        let _ = parse(&line);
    }

    #[test]
    fn a_quoted_word_reads_back(words in proptest::collection::vec("[^\0]*", 1..5)) {
        let line = words.iter().map(|word| quoted(word).into_owned()).collect::<Vec<_>>().join(" ");
        let parsed = parse(&format!("x {line}")).unwrap();
        let read: Vec<&str> = parsed.commands[0].words[1..].iter().map(|word| word.text.as_str()).collect();
        prop_assert_eq!(read, words);
        prop_assert!(parsed.commands[0].words.iter().all(Word::is_literal));
    }
}
