//! Bytes are bytes: no line ending, mark or encoding is touched on the way.

use outfitter_core::{Bytes, Files, Put, PutMode, Range};
use proptest::prelude::*;
use rstest::rstest;

use super::world::{Machine, World, here};

#[rstest]
#[case::crlf_and_bom(b"\xef\xbb\xbfone\r\ntwo\r\n")]
#[case::utf16(b"\xff\xfea\0\r\0\n\0")]
#[case::gbk(b"\xc4\xe3\xba\xc3\r\n")]
#[case::no_final_newline(b"a\rb")]
#[case::nul(b"\0\0")]
#[tokio::test]
async fn what_is_put_is_what_is_there(
    #[case] bytes: &'static [u8],
    #[values(Machine::Ours, Machine::Theirs)] machine: Machine,
) {
    let Some(world) = World::on(machine).await else {
        return;
    };
    for mode in [PutMode::Replace, PutMode::Append] {
        let put = Put {
            bytes: Bytes::from_static(bytes),
            mode,
            if_hash: None,
        };
        world.files.put(here("file"), put).await.unwrap();
    }
    assert_eq!(world.bytes("file"), [bytes, bytes].concat());
    let range = Range { from: 0, max: 1000 };
    let chunk = world.files.read(here("file"), range).await.unwrap();
    assert_eq!(&chunk.bytes[..], [bytes, bytes].concat());
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]

    #[test]
    fn any_range_of_any_bytes_reads_as_they_are(
        bytes in prop::collection::vec(any::<u8>(), 0..600),
        from in 0_u64..700,
        max in 0_u64..700,
    ) {
        let world = World::new();
        world.make("file", &bytes);
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        let chunk = runtime
            .block_on(world.files.read(here("file"), Range { from, max }))
            .unwrap();
        let expected: Vec<u8> = bytes
            .iter()
            .copied()
            .skip(usize::try_from(from).unwrap())
            .take(usize::try_from(max).unwrap())
            .collect();
        prop_assert_eq!(&chunk.bytes[..], &expected[..]);
        prop_assert_eq!(chunk.size, bytes.len() as u64);
    }
}
