// SPDX-License-Identifier: Apache-2.0
#![no_std]
include!(env!("HEAPFIT_PLUGIN_RS"));
use core::ptr::{null_mut, NonNull};

plugin!(linked_list_allocator::Heap);

impl Heap for linked_list_allocator::Heap {
    unsafe fn over(region: *mut u8, size: usize) -> Option<Self> {
        // It panics on less.
        (size >= 4 * size_of::<usize>()).then(|| Self::new(region, size))
    }
    unsafe fn alloc(&mut self, layout: Layout) -> *mut u8 {
        self.allocate_first_fit(layout)
            .map_or(null_mut(), NonNull::as_ptr)
    }
    unsafe fn dealloc(&mut self, block: *mut u8, layout: Layout) {
        self.deallocate(NonNull::new_unchecked(block), layout);
    }
}
