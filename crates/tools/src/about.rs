//! The tools about tools.

use crate::expand_tools::EXPAND_TOOLS;
use crate::list_tools::{GET_TOOL_SCHEMA, LIST_TOOLS};
use crate::tool_search::TOOL_SEARCH;

/// The tools that tell of the others: what they say depends on every source.
pub const TOOLS_ABOUT_TOOLS: [&str; 4] = [EXPAND_TOOLS, TOOL_SEARCH, LIST_TOOLS, GET_TOOL_SCHEMA];
