//! The output of Python and of commands while it is written: as events of the sandbox, and to whoever asked.
//!
//! Only where somebody wants it: the caller with a tag or a sink, or one who follows the sandbox's events. Everybody else's
//! call is answered in one piece, as before.

use cove_api::{EventKind, OutputChunk, SandboxId};
use cove_runtime_api::Call;
use serde_json::json;

use crate::exec::{Execution, object};
use crate::sandboxes::invalid;
use crate::timed::OutputSink;
use crate::{Bay, BayResult};

/// The longest tag.
const MAX_TAG_CHARS: usize = 64;

/// Who wants to hear a run.
pub(crate) struct Live {
    tag: Option<String>,
    sink: Option<OutputSink>,
}

impl Bay {
    /// Who wants to hear a run of this sandbox, if anybody; refuses a tag that is none.
    pub(crate) fn live(
        &self,
        id: &SandboxId,
        tag: Option<String>,
        sink: Option<OutputSink>,
    ) -> BayResult<Option<Live>> {
        let plain = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
        if tag.as_ref().is_some_and(|tag| !(1..=MAX_TAG_CHARS).contains(&tag.len()) || !tag.chars().all(plain)) {
            return Err(invalid(format!("`output_tag` must have 1 to {MAX_TAG_CHARS} letters, digits, `-` and `_`")));
        }
        let wanted = tag.is_some() || sink.is_some() || self.inner.events.are_read(id);
        Ok(wanted.then_some(Live { tag, sink }))
    }

    /// Runs something in a runtime for those who want to hear it, and notes in which session. `request` must ask for a
    /// stream.
    pub(crate) async fn run_live<C: Call>(
        &self,
        call: &crate::router::Admitted,
        run: &mut Execution,
        request: &C,
        live: Live,
    ) -> BayResult<C::Answer> {
        let mut route = self.route(call).await?;
        run.session_id = Some(route.session.id.clone());
        let (sandbox_id, execution_id) = (&run.sandbox_id, &run.id);
        let heard = |chunk: OutputChunk| {
            if let Some(sink) = &live.sink {
                sink(&chunk);
            }
            let OutputChunk { stream, text, dropped } = chunk;
            let data = json!({
                "execution_id": execution_id, "tag": live.tag, "stream": stream, "text": text, "dropped": dropped
            });
            self.emit(sandbox_id, EventKind::Output, &object(data));
        };
        let heard = &heard;
        let asked = |container: std::sync::Arc<crate::session::LiveContainer>| async move {
            container.client.call_live(request, call.work_deadline(), heard).await
        };
        self.ask(call, &mut route, asked).await
    }
}
