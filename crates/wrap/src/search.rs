//! Search over names and descriptions: an inverted index with the usual weights (BM25), forgiving of parts of words and of
//! one slip of a letter.

use std::collections::{BTreeMap, HashMap};

/// What a word is worth by where it stands.
const IN_NAME: f32 = 4.0;
const IN_SERVER: f32 = 2.0;
const IN_WORDS: f32 = 1.0;

/// BM25's usual constants: how soon more of the same word stops to count, and how much long texts lose.
const SATURATION: f32 = 1.2;
const LENGTH: f32 = 0.75;

/// Words of a query that are looked up; a query is a stranger's text.
const MAX_WORDS: usize = 24;

/// Words that begin like the one that was asked for, at most.
const MAX_BEGINNINGS: usize = 64;

/// How like a word must be to one that is not there.
const LIKE: f64 = 0.88;

/// The texts of one tool.
pub(crate) struct Texts<'a> {
    pub(crate) server: &'a str,
    pub(crate) name: &'a str,
    pub(crate) words: Vec<&'a str>,
}

/// All tools by their words.
#[derive(Debug, Default)]
pub(crate) struct Index {
    /// For each word the tools that have it, and how much of it.
    words: BTreeMap<String, Vec<(u32, f32)>>,
    lengths: Vec<f32>,
    mean: f32,
}

impl Index {
    pub(crate) fn new<'a>(tools: impl Iterator<Item = Texts<'a>>) -> Self {
        let mut index = Self::default();
        for (number, tool) in tools.enumerate() {
            let mut counts: HashMap<String, f32> = HashMap::new();
            let mut length = 0.0;
            let fields = [(IN_SERVER, tool.server), (IN_NAME, tool.name)];
            let fields = fields.into_iter().chain(tool.words.into_iter().map(|words| (IN_WORDS, words)));
            for (weight, text) in fields {
                for word in words_of(text) {
                    *counts.entry(word).or_default() += weight;
                    length += 1.0;
                }
            }
            let number = u32::try_from(number).unwrap_or(u32::MAX);
            for (word, count) in counts {
                index.words.entry(word).or_default().push((number, count));
            }
            index.lengths.push(length);
        }
        index.mean = index.lengths.iter().sum::<f32>() / (index.lengths.len().max(1) as f32);
        index
    }

    /// The tools that fit best, best first.
    pub(crate) fn find(&self, query: &str, most: usize) -> Vec<usize> {
        let mut scores: HashMap<u32, f32> = HashMap::new();
        for word in words_of(query).into_iter().take(MAX_WORDS) {
            // Each tool counts a word of the query once: by the closest of the words that it has.
            let mut best: HashMap<u32, f32> = HashMap::new();
            for (found, share) in self.like(&word) {
                let Some(tools) = self.words.get(found) else { continue };
                let (all, having) = (self.lengths.len() as f32, tools.len() as f32);
                let rarity = (1.0 + (all - having + 0.5) / (having + 0.5)).ln();
                for (tool, count) in tools {
                    let length = self.lengths.get(*tool as usize).copied().unwrap_or(1.0) / self.mean.max(1.0);
                    let weight = count * (SATURATION + 1.0) / (count + SATURATION * (1.0 - LENGTH + LENGTH * length));
                    let score = best.entry(*tool).or_default();
                    *score = score.max(share * rarity * weight);
                }
            }
            for (tool, score) in best {
                *scores.entry(tool).or_default() += score;
            }
        }
        let mut found: Vec<(u32, f32)> = scores.into_iter().collect();
        found.sort_by(|(one, a), (other, b)| b.total_cmp(a).then(one.cmp(other)));
        found.into_iter().take(most).map(|(tool, _)| tool as usize).collect()
    }

    /// The words that are meant by one: itself, those that begin with it, else the one that is most like it.
    fn like<'a>(&'a self, word: &str) -> Vec<(&'a str, f32)> {
        let mut found = Vec::new();
        let begins = self.words.range(word.to_owned()..).take_while(|(known, _)| known.starts_with(word));
        for (known, _) in begins.take(MAX_BEGINNINGS) {
            let share = word.len() as f32 / known.len() as f32;
            if share >= 0.5 || word.len() >= 4 {
                found.push((known.as_str(), if known == word { 1.0 } else { 0.6 * share }));
            }
        }
        if found.is_empty() && word.len() >= 4 {
            let near = self.words.keys().filter(|known| known.len().abs_diff(word.len()) <= 2);
            let near = near.map(|known| (known, strsim::jaro_winkler(known, word)));
            let near = near.max_by(|(_, a), (_, b)| a.total_cmp(b)).filter(|(_, like)| *like >= LIKE);
            found.extend(near.map(|(known, _)| (known.as_str(), 0.5)));
        }
        found
    }
}

/// The words of a text: `createIssue`, `create-issue` and `create issue` have the same two.
pub(crate) fn words_of(text: &str) -> Vec<String> {
    let mut words = Vec::new();
    let mut word = String::new();
    let mut before_lower = false;
    for letter in text.chars() {
        if !letter.is_alphanumeric() || letter.is_uppercase() && before_lower {
            end(&mut words, &mut word);
        }
        before_lower = letter.is_lowercase() || letter.is_numeric();
        if letter.is_alphanumeric() {
            word.extend(letter.to_lowercase());
        }
    }
    end(&mut words, &mut word);
    words
}

/// A word is over: kept without the ending of a plural, unless it says nothing.
fn end(words: &mut Vec<String>, word: &mut String) {
    const SILENT: &[&str] = &["a", "an", "and", "for", "in", "is", "it", "of", "on", "or", "the", "to", "with"];
    let mut done = std::mem::take(word);
    if done.len() > 3 && done.ends_with('s') && !done.ends_with("ss") {
        done.pop();
    }
    if !done.is_empty() && done.len() <= 40 && !SILENT.contains(&done.as_str()) {
        words.push(done);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_found_however_they_are_joined() {
        for text in ["createIssue", "create-issue", "create_issue", "Create the issues"] {
            assert_eq!(words_of(text), ["create", "issue"], "{text}");
        }
    }

    #[test]
    fn the_best_comes_first() {
        let tools = [
            ("github", "create_issue", "Create a new issue in a repository"),
            ("github", "list_issues", "List issues of a repository"),
            ("fs", "read_file", "Read the complete contents of a file"),
            ("mail", "send", "Send a message"),
        ];
        let texts = tools.iter().map(|(server, name, words)| Texts { server, name, words: vec![words] });
        let index = Index::new(texts);
        for (query, expected) in [
            ("create issue", Some(0)),
            ("issues list", Some(1)),
            ("reading a file", Some(2)),
            ("contnets of file", Some(2)),
            ("repos", Some(1)),
            ("mail", Some(3)),
            ("zebra", None),
            ("", None),
        ] {
            assert_eq!(index.find(query, 3).first().copied(), expected, "{query}");
        }
        assert!(index.find(&"x ".repeat(100_000), 3).is_empty());
    }
}
