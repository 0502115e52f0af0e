//! `/ipython/…`.

use serde_json::json;

use crate::support::sandbox;

#[tokio::test]
async fn state_is_kept() {
    let sandbox = sandbox().await;
    let answer = sandbox.python("x = 41").await;
    assert_eq!(answer["success"], true, "{answer}");
    let answer = sandbox.python("print('hi')\nx + 1").await;
    assert_eq!(answer["output"]["text"], "hi\n42\n", "{answer}");
    assert_eq!(answer["execution_count"], json!(2));
}
