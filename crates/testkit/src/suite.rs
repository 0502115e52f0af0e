//! One table of cases, held against several makes of one thing: a store in SQLite and in PostgreSQL.

use std::pin::Pin;
use std::time::Instant;

/// A name and what is done with a fresh thing.
pub type Case<T> = (&'static str, fn(T) -> Pin<Box<dyn Future<Output = ()>>>);

/// A table of cases: async functions of one argument, each with its path as its name.
///
/// ```
/// async fn is_empty(list: Vec<u8>) {
///     assert!(list.is_empty());
/// }
/// const ALL: &[cove_testkit::Case<Vec<u8>>] = cove_testkit::cases![is_empty];
/// # let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
/// # runtime.block_on(
/// cove_testkit::run_cases(ALL, async |_| Vec::new())
/// # );
/// ```
#[macro_export]
macro_rules! cases {
    ($($case:path),* $(,)?) => {
        &[$((stringify!($case), |thing| Box::pin($case(thing)))),*]
    };
}

/// Runs every case on a thing of its own, which `make` gives for the case's number; says which one it was that failed.
pub async fn run_cases<T>(cases: &[Case<T>], mut make: impl AsyncFnMut(usize) -> T) {
    for (number, (name, case)) in cases.iter().enumerate() {
        println!("case {name}");
        let thing = make(number).await;
        let began = Instant::now();
        case(thing).await;
        println!("     {:?}", began.elapsed());
    }
}
