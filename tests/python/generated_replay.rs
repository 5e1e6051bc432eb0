// SPDX-License-Identifier: Apache-2.0
//! Replays a file of events on a generated heap as generated_replay.c does, through GlobalAlloc.
//!
//! Usage: replay FILE OBJECTS. What is resized has the heap's own alignment. The region's base is
//! aligned to more than its bytes.

use std::alloc::{GlobalAlloc, Layout};
use std::{env, fs, ptr};

static HEAP: app_heap::Heap = app_heap::Heap;

const ALLOC: u32 = 0;
const ZEROED: u32 = 1;
const ALIGNED: u32 = 2;
const RESIZE: u32 = 3;
const EVENT_BYTES: usize = 24;

struct Event {
    size: usize,
    object: usize,
    alignment: usize,
    op: u32,
}

impl Event {
    fn from(bytes: &[u8]) -> Event {
        let word = |at: usize| u32::from_le_bytes(bytes[at..at + 4].try_into().unwrap());
        let size = u64::from_le_bytes(bytes[..8].try_into().unwrap());
        Event {
            size: usize::try_from(size).unwrap_or(usize::MAX),
            object: word(8) as usize,
            alignment: (word(12) as usize).max(1),
            op: word(16),
        }
    }

    /// Of the block; what no region holds has none.
    fn layout(&self) -> Option<Layout> {
        let alignment = if self.op == ALIGNED {
            self.alignment
        } else {
            1
        };
        Layout::from_size_align(self.size.max(1), alignment).ok()
    }
}

struct Replay {
    objects: Vec<Option<(*mut u8, Layout)>>,
    placement_hash: u64,
    refusals: u64,
}

impl Replay {
    fn place(&mut self, object: usize, block: *mut u8, layout: Layout) {
        if block.is_null() {
            self.refusals += 1;
            return;
        }
        let offset = block as usize % app_heap::BASE_ALIGNMENT;
        assert!(offset < app_heap::BYTES && offset % layout.align() == 0);
        self.placement_hash = (self.placement_hash ^ offset as u64).wrapping_mul(0x100000001b3);
        self.objects[object] = Some((block, layout));
        // SAFETY: the block has so many bytes.
        unsafe { ptr::write_bytes(block, object as u8, layout.size()) };
    }

    /// What was written is there, up to so many bytes.
    fn check(object: usize, block: *const u8, bytes: usize) {
        // SAFETY: the block is live.
        assert!((0..bytes).all(|i| unsafe { *block.add(i) } == object as u8));
    }

    fn ask(&mut self, event: &Event) {
        let Some(layout) = event.layout() else {
            self.refusals += 1;
            return;
        };
        // SAFETY: no layout here is of 0 bytes.
        let block = unsafe {
            match event.op {
                ZEROED => HEAP.alloc_zeroed(layout),
                _ => HEAP.alloc(layout),
            }
        };
        if event.op == ZEROED && !block.is_null() {
            Self::check(0, block, layout.size());
        }
        self.place(event.object, block, layout);
    }

    fn resize(&mut self, event: &Event, block: *mut u8, layout: Layout) {
        assert!(layout.align() <= app_heap::ALIGNMENT);
        let Ok(resized) = Layout::from_size_align(event.size, layout.align()) else {
            self.refusals += 1;
            return;
        };
        // SAFETY: the block is live, and of this layout.
        let moved = unsafe { HEAP.realloc(block, layout, event.size) };
        let kept = if moved.is_null() { block } else { moved };
        Self::check(event.object, kept, event.size.min(layout.size()));
        self.place(event.object, moved, resized);
    }

    fn step(&mut self, event: &Event) {
        match (event.op, self.objects[event.object]) {
            (ALLOC | ZEROED | ALIGNED, _) => self.ask(event),
            (RESIZE, Some((block, layout))) if event.size > 0 => self.resize(event, block, layout),
            (_, Some((block, layout))) => {
                Self::check(event.object, block, layout.size());
                // SAFETY: as above.
                unsafe { HEAP.dealloc(block, layout) };
                self.objects[event.object] = None;
            }
            (_, None) => {}
        }
    }
}

/// A block whose alignment is beyond the heap's keeps it and its contents when it is resized.
fn resize_aligned() {
    let layout = Layout::from_size_align(100, 64).unwrap();
    // SAFETY: sizes are as they were asked for.
    unsafe {
        let block = HEAP.alloc_zeroed(layout);
        ptr::write_bytes(block, 7, 60);
        let between = HEAP.alloc(Layout::from_size_align(8, 8).unwrap());
        let moved = HEAP.realloc(block, layout, 300);
        assert!(moved as usize % 64 == 0 && moved != block);
        assert!((0..60).all(|i| *moved.add(i) == 7) && (60..100).all(|i| *moved.add(i) == 0));
        HEAP.dealloc(moved, Layout::from_size_align(300, 64).unwrap());
        HEAP.dealloc(between, Layout::from_size_align(8, 8).unwrap());
    }
}

/// Calls exclude each other.
fn ask_from_two_threads() {
    let work = || {
        for size in 1..4000 {
            let layout = Layout::from_size_align(size % 100 + 1, 8).unwrap();
            // SAFETY: as above.
            unsafe { HEAP.dealloc(HEAP.alloc(layout), layout) };
        }
    };
    std::thread::scope(|scope| {
        scope.spawn(work);
        scope.spawn(work);
    });
}

fn main() {
    let words: Vec<String> = env::args().collect();
    let events = fs::read(&words[1]).unwrap();
    let mut replay = Replay {
        objects: vec![None; words[2].parse().unwrap()],
        placement_hash: 0xcbf29ce484222325,
        refusals: 0,
    };
    for bytes in events.chunks_exact(EVENT_BYTES) {
        replay.step(&Event::from(bytes));
    }
    println!(
        "{} {} {}",
        replay.placement_hash,
        replay.refusals,
        HEAP.footprint()
    );
    for (block, layout) in replay.objects.drain(..).flatten() {
        // SAFETY: as above.
        unsafe { HEAP.dealloc(block, layout) };
    }
    resize_aligned();
    ask_from_two_threads();
    assert!(HEAP.is_sound());
}
