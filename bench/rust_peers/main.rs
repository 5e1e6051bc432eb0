// SPDX-License-Identifier: Apache-2.0
//! Replays a file of events on a heap of another's crate, in regions whose sizes come on stdin.
//!
//! Usage: rust_peers PEER EVENTS OBJECTS ALIGNMENT. A line of stdin is a number of bytes, for the
//! region and the heap's own struct; the line that answers it is 1 if every request was served,
//! else 0. A request of 0 bytes is one of 1; a resize to 0 frees.

mod peers;

use peers::{with_peer, Peer, Work};
use std::alloc::{alloc, dealloc, Layout};
use std::{env, fs, io, process};

const ALIGNED: u32 = 2;
const RESIZE: u32 = 3;
const FREE: u32 = 4;
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
            alignment: word(12) as usize,
            op: word(16),
        }
    }
}

struct Trace {
    events: Vec<Event>,
    objects: usize,
    alignment: usize,
}

type Objects = [Option<(*mut u8, Layout)>];

impl Trace {
    /// Of the block a request asks for; none if no region can hold it.
    fn layout(&self, event: &Event) -> Option<Layout> {
        let asked = if event.op == ALIGNED {
            event.alignment
        } else {
            1
        };
        Layout::from_size_align(event.size.max(1), asked.max(self.alignment)).ok()
    }

    /// False if the event is a request that the heap refuses.
    unsafe fn step<P: Peer>(&self, heap: &mut P, event: &Event, objects: &mut Objects) -> bool {
        let object = &mut objects[event.object];
        let (block, layout) = match *object {
            None if event.op >= RESIZE => return true,
            Some((block, layout)) if event.op == FREE || event.size == 0 => {
                heap.dealloc(block, layout);
                *object = None;
                return true;
            }
            Some((block, layout)) => {
                let Ok(resized) = Layout::from_size_align(event.size, layout.align()) else {
                    return false;
                };
                (heap.resize(block, layout, event.size), resized)
            }
            None => {
                let Some(layout) = self.layout(event) else {
                    return false;
                };
                (heap.alloc(layout), layout)
            }
        };
        *object = Some((block, layout));
        !block.is_null()
    }

    unsafe fn is_served<P: Peer>(&self, region: *mut u8, size: usize) -> bool {
        let Some(mut heap) = P::over(region, size) else {
            return false;
        };
        let mut objects = vec![None; self.objects];
        self.events
            .iter()
            .all(|event| self.step(&mut heap, event, &mut objects))
    }

    /// In so many bytes, the heap's struct included.
    fn is_served_in<P: Peer>(&self, bytes: usize) -> bool {
        let size = bytes.saturating_sub(size_of::<P>());
        if size == 0 {
            return false;
        }
        // Aligned to no less than its bytes: the kindest there is to a heap of powers of two.
        let layout = Layout::from_size_align(size, size.next_power_of_two()).unwrap();
        // SAFETY: no block is used after the heap, whose region lives as long as it does.
        unsafe {
            let region = alloc(layout);
            assert!(!region.is_null(), "no memory for a region of {size} bytes");
            let served = self.is_served::<P>(region, size);
            dealloc(region, layout);
            served
        }
    }
}

impl Work for Trace {
    fn with<P: Peer>(self) {
        for line in io::stdin().lines() {
            let bytes = line.unwrap().trim().parse().unwrap();
            println!("{}", u8::from(self.is_served_in::<P>(bytes)));
        }
    }
}

fn main() {
    let words: Vec<String> = env::args().collect();
    let [_, peer, events, objects, alignment] = &words[..] else {
        eprintln!("usage: rust_peers PEER EVENTS OBJECTS ALIGNMENT");
        process::exit(2);
    };
    let bytes = fs::read(events).unwrap();
    let trace = Trace {
        events: bytes.chunks_exact(EVENT_BYTES).map(Event::from).collect(),
        objects: objects.parse().unwrap(),
        alignment: alignment.parse().unwrap(),
    };
    if !with_peer(peer, trace) {
        eprintln!("{peer}: no such crate here");
        process::exit(2);
    }
}
