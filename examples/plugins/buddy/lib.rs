// SPDX-License-Identifier: Apache-2.0
//! A buddy heap without headers: blocks are powers of two at multiples of their size, and the
//! caller tells the size when it frees. A freed block joins its buddy if that is free, too.
#![no_std]
include!(env!("HEAPFIT_PLUGIN_RS"));

use core::ptr::null_mut;

const LEAST: usize = 16; // bytes of a block
const ORDERS: usize = usize::BITS as usize;

/// A free block, in the list of those of its size.
struct Free {
    next: *mut Free,
}

struct Buddy {
    lists: [*mut Free; ORDERS], // by the logarithm of the size
}

plugin!(Buddy);

fn order_of(layout: Layout) -> usize {
    let size = layout.size().max(layout.align()).max(LEAST);
    size.next_power_of_two().trailing_zeros() as usize
}

impl Buddy {
    unsafe fn push(&mut self, order: usize, address: usize) {
        let block = address as *mut Free;
        (*block).next = self.lists[order];
        self.lists[order] = block;
    }

    unsafe fn pop(&mut self, order: usize) -> Option<usize> {
        let block = self.lists[order];
        if block.is_null() {
            return None;
        }
        self.lists[order] = (*block).next;
        Some(block as usize)
    }

    /// Takes a block out of its list; false if it is not free.
    unsafe fn remove(&mut self, order: usize, address: usize) -> bool {
        let mut link: *mut *mut Free = &mut self.lists[order];
        while !(*link).is_null() {
            if *link as usize == address {
                *link = (**link).next;
                return true;
            }
            link = &mut (**link).next;
        }
        false
    }
}

impl Heap for Buddy {
    /// Cut into the largest blocks that there are.
    unsafe fn over(region: *mut u8, size: usize) -> Option<Self> {
        let mut heap = Buddy {
            lists: [null_mut(); ORDERS],
        };
        let mut at = (region as usize).next_multiple_of(LEAST);
        let end = region as usize + size;
        while at + LEAST <= end {
            let order = at.trailing_zeros().min((end - at).ilog2());
            heap.push(order as usize, at);
            at += 1 << order;
        }
        Some(heap)
    }

    unsafe fn alloc(&mut self, layout: Layout) -> *mut u8 {
        let wanted = order_of(layout);
        for order in wanted..ORDERS {
            let Some(address) = self.pop(order) else {
                continue;
            };
            for half in wanted..order {
                self.push(half, address + (1 << half));
            }
            return address as *mut u8;
        }
        null_mut()
    }

    unsafe fn dealloc(&mut self, block: *mut u8, layout: Layout) {
        let mut order = order_of(layout);
        let mut address = block as usize;
        while self.remove(order, address ^ (1 << order)) {
            address &= !(1 << order);
            order += 1;
        }
        self.push(order, address);
    }
}
