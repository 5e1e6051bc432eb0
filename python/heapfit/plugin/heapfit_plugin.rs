// SPDX-License-Identifier: Apache-2.0
// An adapter in Rust: implement `Heap` for an allocator's type and name that in `plugin!`. A crate
// of the type staticlib has this by include!(env!("HEAPFIT_PLUGIN_RS")), under #![no_std].
//
// The functions are those of heapfit_plugin.h; the heap's own struct is a static, and counts.

use core::alloc::Layout;

/// A heap over a region, as GlobalAlloc asks of one. Blocks come back with their layouts.
pub trait Heap: Sized {
    /// None if the region is too small. It outlives the heap.
    unsafe fn over(region: *mut u8, size: usize) -> Option<Self>;
    /// Null: refused.
    unsafe fn alloc(&mut self, layout: Layout) -> *mut u8;
    unsafe fn dealloc(&mut self, block: *mut u8, layout: Layout);

    /// Null: the block stays as it is.
    unsafe fn resize(&mut self, block: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        moved(self, block, layout, size)
    }
}

/// A resize by a second block, as GlobalAlloc has it by default.
unsafe fn moved<H: Heap>(heap: &mut H, block: *mut u8, layout: Layout, size: usize) -> *mut u8 {
    let new = heap.alloc(Layout::from_size_align_unchecked(size, layout.align()));
    if !new.is_null() {
        core::ptr::copy_nonoverlapping(block, new, size.min(layout.size()));
        heap.dealloc(block, layout);
    }
    new
}

macro_rules! plugin {
    ($heap:ty) => {
        static mut HEAP: core::mem::MaybeUninit<$heap> = core::mem::MaybeUninit::uninit();

        #[no_mangle]
        unsafe extern "C" fn plugin_init(region: *mut u8, size: usize, _: usize) -> *mut $heap {
            match <$heap as Heap>::over(region, size) {
                Some(heap) => (*core::ptr::addr_of_mut!(HEAP)).write(heap),
                None => core::ptr::null_mut(),
            }
        }

        #[no_mangle]
        unsafe extern "C" fn plugin_alloc_aligned(
            heap: *mut $heap,
            alignment: usize,
            size: usize,
        ) -> *mut u8 {
            match Layout::from_size_align(size, alignment) {
                Ok(layout) => Heap::alloc(&mut *heap, layout),
                Err(_) => core::ptr::null_mut(),
            }
        }

        #[no_mangle]
        unsafe extern "C" fn plugin_resize_sized(
            heap: *mut $heap,
            block: *mut u8,
            old_size: usize,
            alignment: usize,
            size: usize,
        ) -> *mut u8 {
            let layout = Layout::from_size_align_unchecked(old_size, alignment);
            match Layout::from_size_align(size, alignment) {
                Ok(_) => Heap::resize(&mut *heap, block, layout, size),
                Err(_) => core::ptr::null_mut(),
            }
        }

        #[no_mangle]
        unsafe extern "C" fn plugin_free_sized(
            heap: *mut $heap,
            block: *mut u8,
            size: usize,
            alignment: usize,
        ) {
            let layout = Layout::from_size_align_unchecked(size, alignment);
            Heap::dealloc(&mut *heap, block, layout);
        }
    };
}

#[panic_handler]
fn panicked(_: &core::panic::PanicInfo) -> ! {
    extern "C" {
        fn abort() -> !;
    }
    // SAFETY: heapfit has it, and tells of a crash.
    unsafe { abort() }
}

/// Crates that link `alloc` need one; what it is asked for is told as a fault.
struct Nothing;

#[global_allocator]
static NOTHING: Nothing = Nothing;

// SAFETY: heapfit's malloc does not return.
unsafe impl core::alloc::GlobalAlloc for Nothing {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        extern "C" {
            fn malloc(size: usize) -> *mut u8;
        }
        malloc(layout.size())
    }

    unsafe fn dealloc(&self, _: *mut u8, _: Layout) {}
}
