#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    let _ = mip_fuzzing::expression(bytes);
});
