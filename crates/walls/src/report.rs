//! What stands and what does not: walls as they were seen from inside.
//!
//! Whoever puts up walls has names of his own for them; what a wall is, and how its report is written, is the same for all.

use std::fmt;

use serde::{Deserialize, Serialize};

/// Whether a wall stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum WallState {
    /// It was put up, and where that can be seen from inside, it was seen.
    Active,
    /// It could not be put up here.
    Missing,
}

/// One wall.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Wall<Name> {
    /// Which one.
    pub name: Name,
    /// Whether it stands.
    pub state: WallState,
    /// How it was seen to stand, or why it does not.
    pub detail: String,
}

impl<Name> Wall<Name> {
    /// Whether it could not be put up.
    pub fn is_missing(&self) -> bool {
        self.state == WallState::Missing
    }
}

/// Gathers the report while the walls go up. Each wall is in it once: the last word about it counts.
#[derive(Debug, Serialize, Deserialize)]
pub struct Survey<Name>(Vec<Wall<Name>>);

impl<Name> Default for Survey<Name> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

impl<Name: PartialEq> Survey<Name> {
    /// Notes how putting up a wall has ended.
    pub fn note<E: fmt::Display>(&mut self, name: impl Into<Name>, outcome: Result<impl Into<String>, E>) {
        let (state, detail) = match outcome {
            Ok(detail) => (WallState::Active, detail.into()),
            Err(error) => (WallState::Missing, error.to_string()),
        };
        let name = name.into();
        self.0.retain(|wall| wall.name != name);
        self.0.push(Wall { name, state, detail });
    }

    /// A look from inside found that a wall does not stand, whatever the calls returned.
    pub fn contradict(&mut self, name: impl Into<Name>, found: String) {
        self.note(name, Err::<String, _>(found));
    }

    /// Adds to the detail of a wall that stands.
    pub fn add(&mut self, name: &Name, proof: &str) {
        if let Some(wall) = self.0.iter_mut().find(|wall| wall.name == *name && !wall.is_missing()) {
            wall.detail = format!("{}; {proof}", wall.detail);
        }
    }

    /// What was said about a wall.
    pub fn get<Other: ?Sized>(&self, name: &Other) -> Option<&Wall<Name>>
    where
        Name: PartialEq<Other>,
    {
        self.0.iter().find(|wall| wall.name == *name)
    }

    /// Takes in what another has found about other walls.
    pub fn append(&mut self, other: Self) {
        self.0.extend(other.0);
    }

    /// The walls in the order in which they were spoken of last.
    pub fn into_walls(self) -> Vec<Wall<Name>> {
        self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_word_about_a_wall_counts() {
        let mut survey = Survey::<String>::default();
        survey.note("seccomp", Ok::<_, String>("on"));
        survey.note("capabilities", Ok::<_, String>("none"));
        survey.contradict("capabilities", "CapEff is 1".to_owned());
        survey.add(&"seccomp".to_owned(), "Seccomp 2");
        survey.add(&"capabilities".to_owned(), "is not added to what is missing");
        assert!(survey.get("capabilities").unwrap().is_missing());
        let json = serde_json::to_string(&survey).unwrap();
        assert_eq!(
            json,
            r#"[{"name":"seccomp","state":"active","detail":"on; Seccomp 2"},{"name":"capabilities","state":"missing","detail":"CapEff is 1"}]"#
        );
        let read: Survey<String> = serde_json::from_str(&json).unwrap();
        assert_eq!(read.into_walls(), survey.into_walls());
    }
}
