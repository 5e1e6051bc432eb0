// SPDX-License-Identifier: Apache-2.0
//! An index of words over notes that come and go: index SEED STEPS WORDS LONGEST
//! Notes in a deque, words in a tree of vectors, answers as strings.
use std::collections::{BTreeMap, VecDeque};

struct Random(u64);

impl Random {
    fn below(&mut self, limit: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % limit
    }
}

struct Note {
    number: u32,
    words: Vec<String>,
}

#[derive(Default)]
struct Index {
    notes: VecDeque<Note>,
    by_word: BTreeMap<String, Vec<u32>>,
}

impl Index {
    fn add(&mut self, note: Note) {
        for word in &note.words {
            self.by_word.entry(word.clone()).or_default().push(note.number);
        }
        self.notes.push_back(note);
    }

    fn drop_oldest(&mut self) {
        let Some(note) = self.notes.pop_front() else { return };
        for word in &note.words {
            if let Some(numbers) = self.by_word.get_mut(word) {
                numbers.retain(|number| *number != note.number);
                if numbers.is_empty() {
                    self.by_word.remove(word);
                }
            }
        }
    }

    fn answer(&self, start: &str) -> String {
        let found = self.by_word.range(start.to_string()..).take(12);
        let lines: Vec<String> = found.map(|(word, at)| format!("{word}: {at:?}")).collect();
        lines.join("\n")
    }
}

fn main() {
    let given: Vec<u64> = std::env::args().skip(1).filter_map(|word| word.parse().ok()).collect();
    let [seed, steps, words, longest] = given[..] else {
        eprintln!("index SEED STEPS WORDS LONGEST");
        std::process::exit(2);
    };
    let mut random = Random(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1);
    let mut index = Index::default();
    let mut answers = VecDeque::new();
    for step in 0..steps {
        let count = 1 + random.below(longest);
        let drawn = (0..count).map(|_| format!("word{}", random.below(words))).collect();
        index.add(Note { number: step as u32, words: drawn });
        if index.notes.len() as u64 > 60 + random.below(60) {
            index.drop_oldest();
        }
        answers.push_back(index.answer(&format!("word{}", random.below(words))));
        if answers.len() > 20 {
            answers.pop_front();
        }
    }
}
