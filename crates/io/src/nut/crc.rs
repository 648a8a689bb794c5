/// CRC-32 with the polynomial of IEEE 802.3, highest bit first, from 0 and without a final inversion: what NUT checks its packets with.
pub(super) fn crc32(bytes: &[u8]) -> u32 {
    bytes.iter().fold(0, |crc, byte| {
        let mixed = crc ^ u32::from(*byte) << 24;
        (0..8).fold(mixed, |crc, _| if crc >> 31 == 1 { crc << 1 ^ 0x04C1_1DB7 } else { crc << 1 })
    })
}

#[test]
fn the_checksum_of_a_text_and_its_checksum_is_nothing() {
    let mut text = b"123456789".to_vec();
    // CRC-32/CKSUM inverts the end; this one does not.
    assert_eq!(crc32(&text), 0x89A1_897F);
    text.extend(crc32(&text).to_be_bytes());
    assert_eq!(crc32(&text), 0);
}
