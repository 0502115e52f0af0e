//! What E2B has and Cove has not, each with what to do instead.

use axum::extract::Request;

use crate::refusal::Refused;

/// Said of volumes.
pub(super) const VOLUMES: &str = "volumes are not offered here; the files of a sandbox are its cargo, which other \
                                  sandboxes can be given by `cargo_id` of `POST /v1/sandboxes`";

pub(super) async fn snapshots() -> Refused {
    Refused::unsupported("sandboxes cannot be snapshotted; copy their files, or keep them in a cargo of your own")
}

pub(super) async fn fork() -> Refused {
    Refused::unsupported("sandboxes cannot be forked; make another one and copy the files")
}

pub(super) async fn build() -> Refused {
    Refused::unsupported(
        "templates are not built here: they are profiles of the server's configuration (`cove.yaml`), with a Python \
         environment or an image of their own",
    )
}

pub(super) async fn volumes() -> Refused {
    Refused::unsupported(VOLUMES)
}

pub(super) async fn secrets() -> Refused {
    Refused::unsupported("secrets are not kept here; give a sandbox environment variables instead")
}

pub(super) async fn unknown(request: Request) -> Refused {
    Refused::unsupported(format!(
        "this server has no {} {} of E2B's interface; docs/e2b.md says what there is",
        request.method(),
        request.uri().path()
    ))
}
