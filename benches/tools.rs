//! What it costs to know which tools there are: the list for a request, a search of ten thousand,
//! and whether a call may be made.

mod support;

use std::collections::BTreeSet;
use std::hint::black_box;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::{Duration, Instant};

use async_trait::async_trait;
use outfitter::{
    CallFacts, Facts, KnownPaths, MAIN_AGENT, Policy, Principal, RefusingSandbox, Reply, Role,
    Sandbox as _, Tool, ToolContext, ToolError, ToolIndex as _, ToolName, ToolSpec, Verdict,
};
use outfitter_store::MemoryLog;
use outfitter_tools::{DefaultPolicy, Rule, Rules};
use serde_json::{Value, json};
use support::Fallible;
use support::cpu::{Case, compare, median};
use support::report::Report;
use support::world::World;

/// The most that the list of tools for a request may cost, while nothing changes.
const LISTED: Duration = Duration::from_micros(1);

/// The most that a search among ten thousand tools may take: half of all searches.
const SEARCH: Duration = Duration::from_micros(100);

/// The most that a verdict may cost.
const VERDICT: Duration = Duration::from_nanos(500);

const ROUNDS: usize = 25;
const TIMES: u32 = 20_000;

/// Tools of a large session, and of the largest.
const TOOLS: usize = 100;
const MANY_TOOLS: usize = 10_000;

const FROM_CACHE: &str = "the list of 100 tools, from the cache";
const BY_DEFAULT: &str = "a verdict by default";

fn main() -> Fallible<ExitCode> {
    let mut report = Report::default();
    listed(&mut report)?;
    verdicts(&mut report)?;
    searches(&mut report)?;
    Ok(report.end())
}

fn listed(report: &mut Report) -> Fallible<()> {
    let mut words = Words::new();
    let tools = (0..TOOLS).map(|n| words.tool(n)).collect::<Fallible<_>>()?;
    let world = World::with_tools(Arc::new(MemoryLog::new()), tools)?;
    let session = world.session();
    let facts = session.facts(Arc::default());
    let other = session.facts(Arc::new(BTreeSet::from([ToolName::new("tool_7")?])));
    if session.proxy.view(&facts).schemas().len() != TOOLS {
        return Err("not all tools are shown".into());
    }
    let schemas = session.proxy.view(&facts).schemas();
    let costs = compare(
        ROUNDS,
        vec![
            Case::new(FROM_CACHE, TIMES, || {
                for _ in 0..TIMES {
                    black_box(session.proxy.view(black_box(&facts)).schemas());
                }
                Ok(())
            }),
            Case::new("a copy of it", TIMES / 10, || {
                for _ in 0..TIMES / 10 {
                    black_box(black_box(&schemas).to_vec());
                }
                Ok(())
            }),
            Case::new("made anew", TIMES / 100, || {
                for _ in 0..TIMES / 200 {
                    black_box(session.proxy.view(black_box(&other)).schemas());
                    black_box(session.proxy.view(black_box(&facts)).schemas());
                }
                Ok(())
            }),
        ],
    )?;
    report.title("The tools of a request");
    report.costs(&costs);
    if let Some(cost) = median(&costs, FROM_CACHE) {
        report.budget("the list of tools for a request", cost, LISTED);
    }
    Ok(())
}

fn verdicts(report: &mut Report) -> Fallible<()> {
    const RULES: usize = 100;
    let rule = |n: usize| Rule {
        tool: format!("other_{n}_*"),
        args: None,
        tenant: None,
        role: None,
        channel: None,
        agent: None,
        decision: Verdict::Deny,
    };
    let rules = Rules::new((0..RULES).map(rule).collect(), Arc::new(DefaultPolicy))?;
    let tool = Words::new().tool(1)?;
    let args = json!({"path": "notes/today.md", "limit": 7});
    let facts: Facts = tool.facts(&args)?;
    let sandbox = RefusingSandbox::new();
    let who = Principal {
        tenant: "local".into(),
        subject: "bench".into(),
        role: Role::User,
        channel: "bench".into(),
        stream: None,
    };
    let paths = KnownPaths::look(sandbox.files(), &[], &[]);
    let call = CallFacts {
        spec: tool.spec(),
        args: &args,
        facts: &facts,
        sandbox: sandbox.info(),
        paths: &paths,
        agent: MAIN_AGENT,
    };
    let decide = |policy: &dyn Policy| {
        for _ in 0..TIMES {
            let decision = black_box(policy).decide(black_box(&who), black_box(&call));
            if black_box(decision).verdict != Verdict::Allow {
                return Err("it is not allowed".into());
            }
        }
        Ok(())
    };
    let costs = compare(
        ROUNDS,
        vec![
            Case::new(BY_DEFAULT, TIMES, || decide(&DefaultPolicy)),
            Case::new("the same behind 100 rules for others", TIMES, || {
                decide(&rules)
            }),
        ],
    )?;
    report.title("Whether a call may be made");
    report.costs(&costs);
    if let Some(cost) = median(&costs, BY_DEFAULT) {
        report.budget("a verdict", cost, VERDICT);
    }
    Ok(())
}

fn searches(report: &mut Report) -> Fallible<()> {
    const SEARCHES: usize = 300;
    const BEST: usize = 10;
    let mut words = Words::new();
    let tools = (0..MANY_TOOLS)
        .map(|n| words.tool(n))
        .collect::<Fallible<_>>()?;
    let world = World::with_tools(Arc::new(MemoryLog::new()), tools)?;
    let (view, _) = world.straight();
    let queries: Vec<String> = (0..SEARCHES).map(|_| words.some(4)).collect();
    // The first one makes the index.
    let begun = Instant::now();
    view.search(&queries[0], BEST);
    let first = begun.elapsed();
    let mut taken = Vec::with_capacity(SEARCHES);
    let mut found = 0;
    for query in &queries {
        let begun = Instant::now();
        let tools = view.search(black_box(query), BEST);
        taken.push(begun.elapsed());
        found += tools.len();
    }
    taken.sort_unstable();
    if found < SEARCHES * BEST / 2 {
        return Err(format!("{SEARCHES} searches found {found} tools").into());
    }
    let at = |of_hundred: usize| taken[taken.len() * of_hundred / 100];
    report.title("A search of four words among 10,000 tools, the ten best");
    report.note(&format!(
        "the first, which makes the index: {}",
        support::report::time(first)
    ));
    report.note(&format!("99 of 100: {}", support::report::time(at(99))));
    report.budget("half of all searches", at(50), SEARCH);
    Ok(())
}

/// Words as they come in texts: a few often, most seldom.
struct Words(u64);

impl Words {
    const KNOWN: u64 = 5_000;

    fn new() -> Self {
        Self(0x9E37_79B9_7F4A_7C15)
    }

    fn random(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    fn word(&mut self) -> String {
        const SYLLABLES: [&str; 16] = [
            "ba", "co", "di", "fu", "ge", "ha", "jo", "ki", "lu", "me", "na", "po", "ri", "su",
            "te", "vo",
        ];
        let of = self.random() % Self::KNOWN + 1;
        let mut number = self.random() % of;
        let mut word = String::from("w");
        loop {
            word.push_str(SYLLABLES[(number % 16) as usize]);
            number /= 16;
            if number == 0 {
                return word;
            }
        }
    }

    fn some(&mut self, many: u64) -> String {
        let words: Vec<String> = (0..many).map(|_| self.word()).collect();
        words.join(" ")
    }

    fn tool(&mut self, number: usize) -> Fallible<Arc<dyn Tool>> {
        let many = 8 + self.random() % 23;
        let name = ToolName::new(format!("tool_{number}"))?;
        let parameters = json!({"type": "object", "properties": {
            "path": {"type": "string"}, "limit": {"type": "integer"}}});
        Ok(Arc::new(Named(ToolSpec::new(
            name,
            &*self.some(many),
            parameters,
        ))))
    }
}

/// A tool that is listed and never called.
struct Named(ToolSpec);

#[async_trait]
impl Tool for Named {
    fn spec(&self) -> &ToolSpec {
        &self.0
    }

    async fn call(&self, _: &ToolContext, _: Value) -> Result<Reply, ToolError> {
        Err(ToolError::failed("it is only listed"))
    }
}
