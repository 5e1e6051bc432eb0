// SPDX-License-Identifier: Apache-2.0
#![no_std]
include!(env!("HEAPFIT_PLUGIN_RS"));

type Talc = talc::base::Talc<talc::source::Manual, talc::DefaultBinning>;
plugin!(Talc);

impl Heap for Talc {
    unsafe fn over(region: *mut u8, size: usize) -> Option<Self> {
        let mut heap = Talc::new(talc::source::Manual);
        heap.claim(region, size).map(|_| heap)
    }
    unsafe fn alloc(&mut self, layout: Layout) -> *mut u8 {
        self.allocate(layout)
            .map_or(core::ptr::null_mut(), |block| block.as_ptr())
    }
    unsafe fn dealloc(&mut self, block: *mut u8, layout: Layout) {
        self.deallocate(block, layout);
    }
    unsafe fn resize(&mut self, block: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        if self.try_realloc_in_place(block, layout, size) {
            return block;
        }
        moved(self, block, layout, size)
    }
}
