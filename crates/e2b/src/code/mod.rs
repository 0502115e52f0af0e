//! The code interpreter, as clients find it at port 49999 of a sandbox.

mod contexts;
mod execute;
mod results;

use axum::Router;
use axum::extract::{DefaultBodyLimit, Request, State};
use axum::response::{IntoResponse as _, Response};
use axum::routing::{delete, get, post};

use crate::door::E2bDoor;
use crate::refusal::Refused;

/// The largest piece of code, with what is around it.
const MAX_BODY_BYTES: usize = 6 << 20;

/// A language of the code interpreter.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Language {
    Python,
    JavaScript,
    TypeScript,
    Bash,
}

impl Language {
    /// By the name that a client gives it.
    pub(crate) fn named(name: &str) -> Result<Self, Refused> {
        match name.to_ascii_lowercase().as_str() {
            "" | "python" | "python3" | "py" => Ok(Self::Python),
            "javascript" | "js" => Ok(Self::JavaScript),
            "typescript" | "ts" => Ok(Self::TypeScript),
            "bash" | "sh" | "shell" => Ok(Self::Bash),
            other => {
                let shown: String = other.chars().take(32).collect();
                Err(Refused::invalid(format!(
                    "there is no {shown:?} here; the languages are python, javascript, typescript and bash"
                )))
            }
        }
    }

    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::Python => "python",
            Self::JavaScript => "javascript",
            Self::TypeScript => "typescript",
            Self::Bash => "bash",
        }
    }
}

/// Everything at that port.
pub(crate) fn router(door: E2bDoor) -> Router {
    Router::new()
        .route("/health", get(health))
        .route("/execute", post(execute::execute))
        .route("/contexts", get(contexts::list).post(contexts::create))
        .route("/contexts/{id}", delete(contexts::remove))
        .route("/contexts/{id}/restart", post(contexts::restart))
        .fallback(unknown)
        .layer(DefaultBodyLimit::max(MAX_BODY_BYTES))
        .with_state(door)
}

async fn health(State(door): State<E2bDoor>, request: Request) -> Response {
    match door.guest(&request.into_parts().0).await {
        Ok(_) => "OK".into_response(),
        Err(refused) => refused.into_response(),
    }
}

async fn unknown(request: Request) -> Refused {
    Refused::unsupported(format!("the code interpreter here has no {} {}", request.method(), request.uri().path()))
}
