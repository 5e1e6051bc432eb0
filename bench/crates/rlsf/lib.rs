// SPDX-License-Identifier: Apache-2.0
#![no_std]
include!(env!("HEAPFIT_PLUGIN_RS"));
use core::ptr::{null_mut, slice_from_raw_parts_mut, NonNull};

type Rlsf = rlsf::Tlsf<'static, u32, u16, 20, 16>; // the table that embedded-alloc gives it
plugin!(Rlsf);

impl Heap for Rlsf {
    unsafe fn over(region: *mut u8, size: usize) -> Option<Self> {
        let mut heap = Rlsf::new();
        let whole = NonNull::new(slice_from_raw_parts_mut(region, size))?;
        heap.insert_free_block_ptr(whole).map(|_| heap)
    }
    unsafe fn alloc(&mut self, layout: Layout) -> *mut u8 {
        self.allocate(layout).map_or(null_mut(), NonNull::as_ptr)
    }
    unsafe fn dealloc(&mut self, block: *mut u8, layout: Layout) {
        self.deallocate(NonNull::new_unchecked(block), layout.align());
    }
    unsafe fn resize(&mut self, block: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        let resized = Layout::from_size_align_unchecked(size, layout.align());
        self.reallocate(NonNull::new_unchecked(block), resized)
            .map_or(null_mut(), NonNull::as_ptr)
    }
}
