//! The fixed hash of packed states, version 1: XXH3 with 128 bits, seed 0, over little-endian words.
//!
//! In: words. Out: 128 bits that are the same in every run, on every machine, for any worker count.
//! Never here: a seed taken from the environment, or a hash that varies with the processor.

/// Changes whenever the function does; part of whatever is stored beyond a run.
pub const HASH_VERSION: u32 = 1;

/// The fingerprint of a state.
#[inline]
pub fn words(state: &[u64]) -> u128 {
    #[cfg(target_endian = "little")]
    {
        // SAFETY: any initialised `u64`s may be read as eight times as many bytes.
        let bytes = unsafe { std::slice::from_raw_parts(state.as_ptr().cast::<u8>(), size_of_val(state)) };
        xxhash_rust::xxh3::xxh3_128(bytes)
    }
    #[cfg(target_endian = "big")]
    {
        let bytes: Vec<u8> = state.iter().flat_map(|w| w.to_le_bytes()).collect();
        xxhash_rust::xxh3::xxh3_128(&bytes)
    }
}

/// The same function of plain bytes, for checksums.
pub fn bytes(bytes: &[u8]) -> u128 {
    xxhash_rust::xxh3::xxh3_128(bytes)
}

/// The same function of all that can be read, a piece at a time.
pub fn all_of(from: &mut impl std::io::Read) -> std::io::Result<u128> {
    let mut hash = xxhash_rust::xxh3::Xxh3::new();
    let mut piece = vec![0; 1 << 16];
    loop {
        match from.read(&mut piece) {
            Ok(0) => return Ok(hash.digest128()),
            Ok(read) => hash.update(&piece[..read]),
            Err(e) if e.kind() == std::io::ErrorKind::Interrupted => {}
            Err(e) => return Err(e),
        }
    }
}

/// A bijective mixer of one word (the finaliser of splitmix64): spreads keys over a table.
#[inline(always)]
pub fn mix(mut z: u64) -> u64 {
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

#[cfg(test)]
mod tests {
    #[test]
    fn what_is_read_in_pieces_has_the_hash_of_the_whole() {
        let bytes: Vec<u8> = (0..300_000_u32).map(|n| super::mix(n.into()) as u8).collect();
        for length in [0, 1, 300, 1 << 16, 300_000] {
            assert_eq!(super::all_of(&mut &bytes[..length]).unwrap(), super::bytes(&bytes[..length]));
        }
    }

    #[test]
    fn the_hash_is_the_published_function_and_never_drifts() {
        // XXH3 of no bytes with seed 0, as printed by the reference implementation of XXH3.
        assert_eq!(super::words(&[]), 0x99aa06d3014798d86001c324468d497f);
        assert_eq!(
            super::words(&[1, 2]),
            xxhash_rust::xxh3::xxh3_128(&[1, 0, 0, 0, 0, 0, 0, 0, 2, 0, 0, 0, 0, 0, 0, 0])
        );
    }
}
