//! The tools as one list.

use std::sync::Arc;

use outfitter_core::Tool;
use outfitter_net::OwnAddresses;

use crate::{
    AnalyzeImage, ApplyPatch, AskUser, AwaitShell, BuiltinOptions, Calculator, CurrentTime,
    ExecuteShellCommand, FetchWebpages, Fetcher, FileAccess, FileRead, FileUpdate, FileWrite,
    GetFrequency, GlobFiles, Grep, KillShell, ListDir, QueryPerson, Questionnaire, RenderHtml2png,
    RunCommand, SearchUsers, SendMessage, ShellProgress, TodoLists, TodoRead, TodoWrite,
};

/// Every tool that `options` leaves in, of a program that listens nowhere.
#[must_use]
pub fn builtin_tools(options: &BuiltinOptions) -> Vec<Arc<dyn Tool>> {
    builtin_tools_beside(options, &OwnAddresses::default())
}

/// Every tool that `options` leaves in; none of them fetches from where the program listens.
#[must_use]
pub fn builtin_tools_beside(options: &BuiltinOptions, own: &OwnAddresses) -> Vec<Arc<dyn Tool>> {
    let access = FileAccess::new(&options.files);
    let lists = Arc::new(TodoLists::default());
    let mut tools: Vec<Arc<dyn Tool>> = vec![
        Arc::new(FileRead::new(access, &options.files)),
        Arc::new(FileWrite::new(access)),
        Arc::new(FileUpdate::new(access)),
        Arc::new(ApplyPatch::new(access)),
        Arc::new(ListDir::new(access)),
        Arc::new(GlobFiles::new(access)),
        Arc::new(Grep::new(access)),
        Arc::new(TodoWrite::new(lists.clone())),
        Arc::new(TodoRead::new(lists)),
        Arc::new(AskUser::default()),
        Arc::new(Questionnaire::default()),
        Arc::new(SendMessage::default()),
        Arc::new(SearchUsers::default()),
        Arc::new(QueryPerson::default()),
        Arc::new(GetFrequency::default()),
        Arc::new(Calculator::default()),
        Arc::new(CurrentTime::default()),
    ];
    let web = options
        .web
        .enabled
        .then(|| Arc::new(Fetcher::new(&options.web, own)));
    tools.push(Arc::new(AnalyzeImage::new(access, web.clone())));
    tools.push(Arc::new(RenderHtml2png::new(access)));
    if let Some(web) = web {
        tools.push(Arc::new(FetchWebpages::new(web)));
    }
    if options.shell.enabled {
        let progress = Arc::new(ShellProgress::default());
        tools.push(Arc::new(ExecuteShellCommand::new(
            &options.shell,
            progress.clone(),
        )));
        tools.push(Arc::new(RunCommand::new(&options.shell, progress.clone())));
        tools.push(Arc::new(AwaitShell::new(&options.shell, progress)));
        tools.push(Arc::new(KillShell::default()));
    }
    tools
}
