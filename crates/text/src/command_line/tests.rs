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
#[case("ps --forest axe", Reading::Not)]
#[case("ps -Cu axe", Reading::Not)]
#[case("ps --deselect axe", Reading::Not)]
#[case("ps -C axe", Reading::Inside)]
#[case("ps aux --sort etime", Reading::Inside)]
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

/// What a line is where nothing holds it: none where its text says that it does not only read, the
/// paths that it opens, or why it may do more.
fn unheld(line: &str) -> Option<Result<Vec<String>, &'static str>> {
    let parsed = parse(line).unwrap();
    let inside = Reading::of(&parsed) == Reading::Inside;
    inside.then(|| reads_of(line, &parsed).map(|paths| paths.into_iter().collect()))
}

/// The repository of a workspace says what git runs: `core.fsmonitor`, `core.hooksPath`,
/// `diff.external`, `diff.NAME.textconv`, `filter.NAME.clean`, `core.pager`, `gpg.program`,
/// `core.sshCommand` of a partial clone, `include.path`, and what `.gitattributes` binds to them.
#[rstest]
#[case("git status")]
#[case("git diff")]
#[case("git diff --stat")]
#[case("git log -p")]
#[case("git log --oneline -5")]
#[case("git --no-pager log")]
#[case("git show HEAD")]
#[case("git show-ref")]
#[case("git blame f")]
#[case("git cat-file -p HEAD:f")]
#[case("git ls-files")]
#[case("git grep x")]
#[case("git rev-parse HEAD")]
#[case("git branch -a")]
#[case("git stash show")]
#[case("git submodule status")]
#[case("git config --list")]
#[case("/usr/bin/git status")]
#[case("ls && git status")]
#[case("echo $(git rev-parse HEAD)")]
#[case("bash -c 'git status'")]
#[case("timeout 5 git status")]
#[case("env git status")]
#[case("rg x")]
#[case("rg --files")]
#[case("ls | rg x")]
fn a_program_that_a_file_of_the_workspace_steers_ran_unasked_where_nothing_holds_it(
    #[case] line: &str,
) {
    let steered = match unheld(line) {
        // A substitution or a wrapper may not even read by its text.
        None => return assert!(line.contains("$("), "{line}"),
        Some(steered) => steered.unwrap_err(),
    };
    assert!(
        steered.starts_with("git") || steered.starts_with("rg"),
        "{steered}"
    );
}

/// Programs that read a file of the workspace to know what to run, and so never only read.
#[rstest]
#[case("make -n")]
#[case("make --dry-run all")]
#[case("npm ls")]
#[case("npm --version")]
#[case("cargo metadata")]
#[case("cargo --version")]
#[case("go list ./...")]
#[case("go env")]
#[case("pip list")]
#[case("python3 --version")]
#[case("node --version")]
#[case("mvn --version")]
#[case("gradle tasks")]
#[case("direnv status")]
#[case("vim -R f")]
#[case("less f")]
#[case("man ls")]
#[case("sqlite3 f .schema")]
#[case("tar tf a.tar")]
#[case("yarn why x")]
#[case("docker compose config")]
#[case("terraform show")]
#[case("bat f")]
#[case("fd x")]
#[case("RIPGREP_CONFIG_PATH=c rg x")]
#[case("export RIPGREP_CONFIG_PATH=c; rg x")]
#[case("env RIPGREP_CONFIG_PATH=c rg x")]
#[case("GIT_DIR=x git status")]
#[case("git -c core.fsmonitor=./x status")]
#[case("git --exec-path=. status")]
#[case("git -C sub status")]
#[case("rg --pre ./x y")]
fn what_runs_by_a_file_of_the_workspace_is_no_read(#[case] line: &str) {
    assert_eq!(unheld(line), None, "{line}");
}

#[rstest]
#[case("ls", &[])]
#[case("ls -la src", &["src"])]
#[case("git --version", &[])]
#[case("rg --no-config x src", &["src", "x"])]
#[case("cat link", &["link"])]
#[case("cat < link", &["link"])]
#[case("wc -l 'a b' 2>/dev/null", &["a b"])]
#[case("grep -flink f", &["link", "f"])]
#[case("grep -rflink f", &["link", "f"])]
#[case("grep --file=link f", &["f", "link"])]
#[case("cd sub && cat link", &["link", "sub", "sub/link", "sub/sub"])]
#[case("find . -name '*.rs' | head -3", &["*.rs", "."])]
#[case("bash -c 'cat link'", &["cat link", "link"])]
#[case("cat /dev/null", &[])]
fn the_paths_that_a_line_opens_are_told(#[case] line: &str, #[case] expected: &[&str]) {
    let paths = unheld(line).unwrap().unwrap();
    for path in expected {
        assert!(paths.iter().any(|found| found == path), "{path}: {paths:?}");
    }
}

#[rstest]
#[case("cat *")]
#[case("cat a?")]
#[case("head -3 *.md")]
#[case("grep x < [a]")]
#[case("ls *.rs")]
#[case("grep -R x .")]
#[case("grep -rR x .")]
#[case("grep --dereference-recursive x .")]
#[case("grep --deref x .")]
#[case("ls -L")]
#[case("ls -lH a")]
#[case("ls --dereference a")]
#[case("du -L .")]
#[case("tree -l")]
#[case("rg --no-config -L x")]
#[case("rg --no-config --follow x")]
#[case("find -L . -name x")]
#[case("find . -follow")]
#[case("diff a b")]
#[case("diff -r a b")]
#[case("find . -execdir cat link ';'")]
#[case("cd a; cd b; cat link")]
#[case("ls; cd a && cat link")]
#[case("while cd a; do cat link; done")]
#[case("env -C a cat link")]
#[case("env --chdir=a cat link")]
fn what_a_line_opens_is_unknown_where_it_shows_only_when_it_runs(#[case] line: &str) {
    if let Some(told) = unheld(line) {
        assert!(told.is_err(), "{line}: {told:?}");
    }
}

#[test]
fn a_line_of_endlessly_many_words_is_not_looked_through() {
    let words: Vec<String> = (0..=MAX_READS).map(|n| n.to_string()).collect();
    let line = format!("cat {}", words.join(" "));
    assert!(unheld(&line).unwrap().is_err());
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
            let reading = Reading::of(&parsed);
            if let (Reading::Inside, Ok(paths)) = (reading, reads_of(&line, &parsed)) {
                // What only reads inside opens nothing that is spelled as outside.
                prop_assert!(paths.iter().all(|path| !path.starts_with('/')));
                prop_assert!(paths.len() <= 2 * MAX_READS);
            }
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
