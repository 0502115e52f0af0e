//! The worker as a program of its own, for programs that cannot be their own worker.

#[expect(clippy::disallowed_methods, reason = "a sentence of its own")]
fn main() {
    cove_embedded::worker::enter_if_asked();
    // Neither a worker nor a probe: there is nothing to do for a person here.
    let _ = std::io::Write::write_all(
        &mut std::io::stderr(),
        b"cove-worker is started by Cove itself; run `cove --help` instead.\n",
    );
}
