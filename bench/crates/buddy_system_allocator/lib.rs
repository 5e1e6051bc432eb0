// SPDX-License-Identifier: Apache-2.0
#![no_std]
include!(env!("HEAPFIT_PLUGIN_RS"));
use core::ptr::{null_mut, NonNull};

type Buddy = buddy_system_allocator::Heap<32>;
plugin!(Buddy);

impl Heap for Buddy {
    unsafe fn over(region: *mut u8, size: usize) -> Option<Self> {
        let mut heap = Buddy::empty();
        heap.init(region as usize, size);
        Some(heap)
    }
    unsafe fn alloc(&mut self, layout: Layout) -> *mut u8 {
        Buddy::alloc(self, layout).map_or(null_mut(), NonNull::as_ptr)
    }
    unsafe fn dealloc(&mut self, block: *mut u8, layout: Layout) {
        Buddy::dealloc(self, NonNull::new_unchecked(block), layout);
    }
}
