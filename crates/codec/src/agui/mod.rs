//! AG-UI 1.0, as the other side of `POST /agui` speaks it.
//!
//! [`AguiEncoder`] turns the events of one run into AG-UI events: exactly one terminal event, and
//! nothing left open before it, on every path. [`RunAgentInput`] reads what a client sends.
//! [`sse`] frames. `docs/protocols/ag-ui.md` is the protocol; [`AguiOrder`] is its order as code.

mod arguments;
mod capabilities;
mod encoder;
mod event;
mod input;
mod instant;
mod interrupt;
mod message;
mod order;
mod progress;
mod read;
mod result;
mod resume;
pub mod sse;
mod texts;
mod transcript;
mod usage;

pub use capabilities::{Capabilities, ToolItem};
pub use encoder::{AguiEncoder, RunFrame};
pub use event::{
    AGUI_VERSION, AguiBody, AguiEvent, AguiInterrupt, AguiOutcome, AguiUsage, CustomValue, PatchOp,
    ProgressContent, ProgressPiece,
};
pub use input::{ClientEra, ContextItem, InputMessage, InputRole, RunAgentInput};
pub use message::{AguiCall, AguiFunction, AguiMessage, CALL_TYPE};
pub use order::{AguiFault, AguiOrder, check_agui_events};
pub use read::InputError;
pub use result::{
    AskMetadata, CallMetadata, ErrorMetadata, Outfitter, RunMetadata, SandboxMetadata,
};
pub use resume::{
    ApprovalAnswer, Resolution, ResumeEntry, ResumeFault, ResumeStatus, approval, check_resume,
};
pub use transcript::Transcript;
