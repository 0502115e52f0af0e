//! Ten lines from nothing to a result: code that an agent might have written calls a tool of the host.
//!
//! `cargo run -p cove-embedded --example hello`
#![allow(clippy::print_stdout)]

use cove_core::{Engine, RunRequest, SessionOptions, ToolError, ToolSet, ToolSpec};

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    cove_embedded::worker::enter_if_asked();
    let weather = ToolSpec::new("weather", |call| async move {
        let city = call.args.first().and_then(|city| city.as_str()).ok_or_else(|| ToolError::new("which city?"))?;
        Ok(format!("{city}: 21 °C, light wind").into())
    });
    let mut session = cove_embedded::EmbeddedEngine::default().open(SessionOptions::one_shot()).await?;
    session.send_tools(ToolSet::new(vec![weather])?).await?;
    let code = "const all = await Promise.all(['Lisbon', 'Oslo'].map(city => weather(city)));\nreturn all.join('\\n')";
    let report = session.run(&RunRequest::new(code)).await;
    let finished = report.result.map_err(|fault| fault.message)?;
    println!("{}\n({:.2} ms)", finished.value.as_str().unwrap_or_default(), report.usage.wall_ms);
    Ok(())
}
