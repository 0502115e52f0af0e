//! How far an image has come that is being fetched, as its engine tells it: layer by layer, many times a second.

use std::collections::HashMap;
use std::time::{Duration, Instant};

use bollard::models::CreateImageInfo;

/// How often it is said.
const SAY_EVERY: Duration = Duration::from_secs(5);

/// What has been told of an image's layers.
#[derive(Debug)]
pub(super) struct Fetch {
    /// Bytes that are there and bytes in all, of each layer.
    layers: HashMap<String, (i64, i64)>,
    said: Instant,
}

impl Fetch {
    pub(super) fn begin() -> Self {
        Self { layers: HashMap::new(), said: Instant::now() }
    }

    /// Takes a step in; what is to be said, if it is time.
    pub(super) fn step(&mut self, step: CreateImageInfo) -> Option<String> {
        self.note(step);
        if self.said.elapsed() < SAY_EVERY {
            return None;
        }
        self.said = Instant::now();
        Some(self.told())
    }

    fn note(&mut self, step: CreateImageInfo) {
        // The first line has the tag in a layer's place.
        let is_tag = step.status.as_deref().is_some_and(|status| status.starts_with("Pulling from"));
        let Some(layer) = step.id.filter(|_| !is_tag) else { return };
        let now = step.progress_detail.and_then(|detail| Some((detail.current?, detail.total?)));
        let is_there = matches!(step.status.as_deref(), Some("Download complete" | "Pull complete" | "Already exists"));
        let known = self.layers.entry(layer).or_default();
        match now {
            // What is unpacked afterwards counts from nothing again.
            Some((current, total)) if total >= known.1 && current >= known.0 => *known = (current, total),
            None if is_there => known.0 = known.1,
            _ => {}
        }
    }

    fn told(&self) -> String {
        let (there, all) = self.layers.values().fold((0, 0), |sum, layer| (sum.0 + layer.0, sum.1 + layer.1));
        format!("{} of {} MB in {} layers", there / 1_000_000, all / 1_000_000, self.layers.len())
    }
}

#[cfg(test)]
mod tests {
    use bollard::models::ProgressDetail;

    use super::*;

    #[test]
    fn bytes_of_all_layers_are_added_and_never_go_back() {
        let mut fetch = Fetch::begin();
        let mut told = |id: &str, status: &str, detail: Option<(i64, i64)>| {
            let progress_detail = detail.map(|(current, total)| ProgressDetail {
                current: Some(current * 1_000_000),
                total: Some(total * 1_000_000),
            });
            let step = CreateImageInfo {
                id: Some(id.to_owned()),
                status: Some(status.to_owned()),
                progress_detail,
                error_detail: None,
            };
            assert_eq!(fetch.step(step), None, "not so soon");
            fetch.told()
        };
        told("1.0", "Pulling from cove/cove-ship", None);
        told("a", "Pulling fs layer", None);
        told("b", "Already exists", None);
        assert_eq!(told("a", "Downloading", Some((10, 40))), "10 of 40 MB in 2 layers");
        assert_eq!(told("c", "Downloading", Some((5, 5))), "15 of 45 MB in 3 layers");
        assert_eq!(told("a", "Download complete", None), "45 of 45 MB in 3 layers");
        assert_eq!(told("a", "Extracting", Some((1, 40))), "45 of 45 MB in 3 layers");
    }

    #[test]
    fn it_is_said_now_and_then() {
        let mut fetch = Fetch::begin();
        fetch.said = Instant::now().checked_sub(SAY_EVERY).unwrap();
        assert!(fetch.step(CreateImageInfo::default()).is_some());
        assert!(fetch.step(CreateImageInfo::default()).is_none());
    }
}
