//! Errors as clients read them: `application/problem+json` (RFC 9457) with our `code`.

use axum::response::{IntoResponse, Response};
use http::{HeaderValue, StatusCode, header};
use outfitter_agent::{AnswerError, DeleteError, RunError};
use outfitter_core::{
    AppendError, ArtifactError, CallHostError, Code, ErrorInfo, JournalError, StoreError,
};
use serde_json::{Map, Value};

/// An error and its status.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Problem {
    status: StatusCode,
    error: Box<ErrorInfo>,
}

/// Where the ids of sessions are.
pub(crate) const YOUR_SESSIONS: &str = "`GET /v1/sessions` lists yours";

/// What to do about a session at work.
const WHEN_OVER: &str = "try again when its run is over, or use another session";

/// The type of these documents.
pub(crate) const PROBLEM: &str = "application/problem+json";

/// Why a request itself is refused, where the table of codes has no status of its own for it.
const UNSUPPORTED: StatusCode = StatusCode::UNSUPPORTED_MEDIA_TYPE;

impl Problem {
    pub(crate) fn new(status: StatusCode, error: ErrorInfo) -> Self {
        Self {
            status,
            error: Box::new(error),
        }
    }

    /// The body does not parse, or does not fit its schema.
    pub(crate) fn malformed(message: impl Into<String>) -> Self {
        let error = ErrorInfo::new(Code::InvalidArguments, message);
        Self::new(StatusCode::BAD_REQUEST, error)
    }

    pub(crate) fn unsupported_type(message: impl Into<String>) -> Self {
        Self::new(UNSUPPORTED, ErrorInfo::new(Code::InvalidArguments, message))
    }

    pub(crate) fn not_found(message: impl Into<String>) -> Self {
        ErrorInfo::new(Code::NotFound, message).into()
    }

    pub(crate) fn internal(message: impl Into<String>) -> Self {
        ErrorInfo::new(Code::Internal, message).into()
    }

    /// The same, with what to do next.
    pub(crate) fn hint(mut self, what: &str) -> Self {
        self.error.hint = Some(what.to_owned());
        self
    }

    /// The same, where its path begins at this place in what was sent.
    pub(crate) fn below(mut self, place: &str) -> Self {
        if let Some(path) = &mut self.error.path {
            path.insert_str(0, place);
        }
        self
    }

    /// What a client reads.
    pub(crate) fn document(&self) -> String {
        let title = self.status.canonical_reason().unwrap_or("Client Closed");
        let mut body = Map::new();
        body.insert("type".to_owned(), Value::from("about:blank"));
        body.insert("title".to_owned(), Value::from(title));
        body.insert("status".to_owned(), Value::from(self.status.as_u16()));
        body.insert("detail".to_owned(), Value::from(self.error.message.clone()));
        if let Ok(Value::Object(error)) = serde_json::to_value(&*self.error) {
            body.extend(error.into_iter().filter(|(key, _)| key != "message"));
        }
        Value::Object(body).to_string()
    }

    pub(crate) fn error(&self) -> &ErrorInfo {
        &self.error
    }
}

/// The status of a code, where it ends a request. `failed` and `limit` end a run, not a request.
pub(crate) fn status_of(code: Code) -> StatusCode {
    let status = match code {
        Code::UnknownTool | Code::NotFound => 404,
        Code::NotPresented | Code::Conflict | Code::Busy => 409,
        Code::InvalidArguments | Code::Usage => 422,
        Code::Unauthenticated => 401,
        Code::NotPermitted | Code::NeedsApproval | Code::Denied => 403,
        Code::RateLimited => 429,
        Code::Unavailable => 503,
        Code::Timeout => 504,
        Code::Cancelled | Code::Interrupted => 499,
        Code::TooLarge => 413,
        Code::ProtocolError => 502,
        Code::Failed | Code::Limit => 200,
        Code::Internal => 500,
    };
    StatusCode::from_u16(status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR)
}

impl From<ErrorInfo> for Problem {
    fn from(error: ErrorInfo) -> Self {
        let status = match error.code {
            Code::Failed | Code::Limit => StatusCode::INTERNAL_SERVER_ERROR,
            code => status_of(code),
        };
        Self::new(status, error)
    }
}

impl From<Box<ErrorInfo>> for Problem {
    fn from(error: Box<ErrorInfo>) -> Self {
        (*error).into()
    }
}

impl From<StoreError> for Problem {
    fn from(error: StoreError) -> Self {
        (&error).into()
    }
}

impl From<&StoreError> for Problem {
    /// What lies under it is for the operator's log: it names our files.
    fn from(error: &StoreError) -> Self {
        let code = match error {
            StoreError::NotFound(_) => {
                let missing = ErrorInfo::new(Code::NotFound, format!("failed to {error}"));
                return missing.with_hint(YOUR_SESSIONS).into();
            }
            StoreError::Backend { .. } | StoreError::Corrupt { .. } => {
                tracing::error!(error = error as &dyn std::error::Error, "the store failed");
                Code::Unavailable
            }
        };
        ErrorInfo::new(code, format!("failed to {error}")).into()
    }
}

impl From<ArtifactError> for Problem {
    fn from(error: ArtifactError) -> Self {
        let code = match error {
            ArtifactError::NotFound(_) => Code::NotFound,
            ArtifactError::TooLarge { .. } => Code::TooLarge,
            ArtifactError::Unavailable { .. } | ArtifactError::Io { .. } => Code::Unavailable,
        };
        ErrorInfo::new(code, format!("failed to {error}")).into()
    }
}

impl From<CallHostError> for Problem {
    fn from(error: CallHostError) -> Self {
        let code = match &error {
            CallHostError::NotFound(_) => Code::NotFound,
            CallHostError::Busy(_) => {
                let busy = ErrorInfo::new(Code::Busy, format!("failed to {error}"));
                return busy.with_hint(WHEN_OVER).into();
            }
            CallHostError::Journal(_) => Code::Conflict,
            CallHostError::Unavailable(_) => Code::Unavailable,
        };
        ErrorInfo::new(code, format!("failed to {error}")).into()
    }
}

impl From<DeleteError> for Problem {
    fn from(error: DeleteError) -> Self {
        match error {
            DeleteError::Store(error) => error.into(),
            DeleteError::Stays(stays) => stays.to_info().into(),
        }
    }
}

impl From<&RunError> for Problem {
    fn from(error: &RunError) -> Self {
        let mut info = error.to_info();
        match error {
            RunError::Answer(AnswerError::NotFound(_)) => info.code = Code::NotFound,
            RunError::Store(store) | RunError::Journal(JournalError(AppendError::Store(store))) => {
                return store.into();
            }
            RunError::Busy(_) => info.hint = Some(WHEN_OVER.to_owned()),
            RunError::NothingToContinue(_)
            | RunError::UnknownWorkflow { .. }
            | RunError::Answer(_)
            | RunError::Journal(_) => {}
        }
        info.into()
    }
}

impl IntoResponse for Problem {
    fn into_response(self) -> Response {
        let mut response = (self.status, self.document()).into_response();
        let headers = response.headers_mut();
        headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(PROBLEM));
        if self.status == StatusCode::UNAUTHORIZED {
            headers.insert(header::WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
        }
        response
    }
}
