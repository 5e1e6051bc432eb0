// SPDX-License-Identifier: Apache-2.0
//! Published allocators under one face: a region, and what GlobalAlloc asks of a heap.

use core::alloc::Layout;
use core::ptr::{null_mut, NonNull};

/// A heap of a crate over a region of ours. Blocks are never read; only where they lie matters.
///
/// The caller hands over live blocks, with the layout they were asked for by.
pub trait Peer: Sized {
    /// Null if the region is too small. The region outlives the heap.
    unsafe fn over(region: *mut u8, size: usize) -> Option<Self>;
    unsafe fn alloc(&mut self, layout: Layout) -> *mut u8;
    unsafe fn dealloc(&mut self, block: *mut u8, layout: Layout);

    /// By a second block, as GlobalAlloc does it by default; null: the block stays.
    unsafe fn resize(&mut self, block: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        let new = self.alloc(Layout::from_size_align_unchecked(size, layout.align()));
        if !new.is_null() {
            self.dealloc(block, layout);
        }
        new
    }
}

fn pointer<E>(block: Result<NonNull<u8>, E>) -> *mut u8 {
    block.map_or(null_mut(), NonNull::as_ptr)
}

type Talc = talc::base::Talc<talc::source::Manual, talc::DefaultBinning>;

impl Peer for Talc {
    unsafe fn over(region: *mut u8, size: usize) -> Option<Self> {
        let mut heap = Talc::new(talc::source::Manual);
        heap.claim(region, size).map(|_| heap)
    }

    unsafe fn alloc(&mut self, layout: Layout) -> *mut u8 {
        pointer(self.allocate(layout).ok_or(()))
    }

    unsafe fn dealloc(&mut self, block: *mut u8, layout: Layout) {
        self.deallocate(block, layout);
    }

    /// In place where it can, as its own GlobalAlloc has it.
    unsafe fn resize(&mut self, block: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        if self.try_realloc_in_place(block, layout, size) {
            return block;
        }
        let new = self.alloc(Layout::from_size_align_unchecked(size, layout.align()));
        if !new.is_null() {
            self.deallocate(block, layout);
        }
        new
    }
}

/// The table that embedded-alloc gives it.
type Rlsf = rlsf::Tlsf<'static, u32, u16, 20, 16>;

impl Peer for Rlsf {
    unsafe fn over(region: *mut u8, size: usize) -> Option<Self> {
        let mut heap = Rlsf::new();
        let whole = core::ptr::slice_from_raw_parts_mut(region, size);
        heap.insert_free_block_ptr(NonNull::new(whole)?)
            .map(|_| heap)
    }

    unsafe fn alloc(&mut self, layout: Layout) -> *mut u8 {
        pointer(self.allocate(layout).ok_or(()))
    }

    unsafe fn dealloc(&mut self, block: *mut u8, layout: Layout) {
        self.deallocate(NonNull::new_unchecked(block), layout.align());
    }

    unsafe fn resize(&mut self, block: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        let resized = Layout::from_size_align_unchecked(size, layout.align());
        pointer(
            self.reallocate(NonNull::new_unchecked(block), resized)
                .ok_or(()),
        )
    }
}

type LinkedList = linked_list_allocator::Heap;

impl Peer for LinkedList {
    unsafe fn over(region: *mut u8, size: usize) -> Option<Self> {
        // What it panics on, of less.
        (size >= 4 * size_of::<usize>()).then(|| LinkedList::new(region, size))
    }

    unsafe fn alloc(&mut self, layout: Layout) -> *mut u8 {
        pointer(self.allocate_first_fit(layout))
    }

    unsafe fn dealloc(&mut self, block: *mut u8, layout: Layout) {
        self.deallocate(NonNull::new_unchecked(block), layout);
    }
}

type Buddy = buddy_system_allocator::Heap<32>;

impl Peer for Buddy {
    unsafe fn over(region: *mut u8, size: usize) -> Option<Self> {
        let mut heap = Buddy::empty();
        heap.init(region as usize, size);
        Some(heap)
    }

    unsafe fn alloc(&mut self, layout: Layout) -> *mut u8 {
        pointer(Buddy::alloc(self, layout))
    }

    unsafe fn dealloc(&mut self, block: *mut u8, layout: Layout) {
        Buddy::dealloc(self, NonNull::new_unchecked(block), layout);
    }
}

/// What is to be done with a heap of some crate.
pub trait Work {
    fn with<P: Peer>(self);
}

/// Does `work` with the crate of this name; false if there is none.
pub fn with_peer(name: &str, work: impl Work) -> bool {
    match name {
        "talc" => work.with::<Talc>(),
        "rlsf" => work.with::<Rlsf>(),
        "linked_list_allocator" => work.with::<LinkedList>(),
        "buddy_system_allocator" => work.with::<Buddy>(),
        _ => return false,
    }
    true
}
