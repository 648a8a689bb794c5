#![no_main]

#[global_allocator]
static MEMORY: mip_fuzzing::PeakAlloc = mip_fuzzing::PeakAlloc;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    let _ = mip_fuzzing::measured(&MEMORY, mip_fuzzing::avif, bytes);
});
