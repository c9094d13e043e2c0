//! The pixels of a PNG (RFC 2083), of the two kinds that a browser makes: eight bits a channel, with
//! and without transparency, not interlaced.

#![expect(
    clippy::expect_used,
    clippy::panic,
    reason = "helpers of tests may fail the test"
)]

use std::io::Read as _;

use flate2::read::ZlibDecoder;

pub(crate) type Colour = [u8; 3];

pub(crate) const RED: Colour = [255, 0, 0];
pub(crate) const GREEN: Colour = [0, 128, 0];
pub(crate) const BLUE: Colour = [0, 0, 255];
pub(crate) const WHITE: Colour = [255, 255, 255];

#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Picture {
    pub(crate) width: usize,
    pub(crate) height: usize,
    pixels: Vec<Colour>,
}

impl Picture {
    pub(crate) fn of(png: &[u8]) -> Self {
        let mut rest = png.strip_prefix(b"\x89PNG\r\n\x1a\n").expect("a PNG");
        let (mut header, mut packed) = (Vec::new(), Vec::new());
        loop {
            let (length, after) = rest.split_first_chunk::<4>().unwrap();
            let (kind, after) = after.split_first_chunk::<4>().unwrap();
            let (data, after) = after.split_at(u32::from_be_bytes(*length) as usize);
            rest = &after[4..];
            match kind {
                b"IHDR" => header = data.to_vec(),
                b"IDAT" => packed.extend_from_slice(data),
                b"IEND" => break,
                _ => {}
            }
        }
        let side = |at: usize| u32::from_be_bytes(header[at..at + 4].try_into().unwrap()) as usize;
        let (width, height) = (side(0), side(4));
        let bytes = match header[8..] {
            [8, 2, 0, 0, 0] => 3,
            [8, 6, 0, 0, 0] => 4,
            ref other => panic!("another kind of PNG: {other:?}"),
        };
        let mut lines = Vec::new();
        ZlibDecoder::new(&*packed).read_to_end(&mut lines).unwrap();
        assert_eq!(lines.len(), height * (1 + width * bytes));
        let mut above = vec![0_u8; width * bytes];
        let mut pixels = Vec::with_capacity(width * height);
        for line in lines.chunks(1 + width * bytes) {
            let mut line = line.to_vec();
            let filter = line.remove(0);
            for at in 0..line.len() {
                let left = if at < bytes { 0 } else { line[at - bytes] };
                let corner = if at < bytes { 0 } else { above[at - bytes] };
                let guess = match filter {
                    0 => 0,
                    1 => left,
                    2 => above[at],
                    3 => u8::midpoint(left, above[at]),
                    4 => nearest(left, above[at], corner),
                    other => panic!("there is no filter {other}"),
                };
                line[at] = line[at].wrapping_add(guess);
            }
            pixels.extend(line.chunks(bytes).map(|c| [c[0], c[1], c[2]]));
            above = line;
        }
        Self {
            width,
            height,
            pixels,
        }
    }

    pub(crate) fn at(&self, x: usize, y: usize) -> Colour {
        self.pixels[y * self.width + x]
    }

    pub(crate) fn count(&self, colour: Colour) -> usize {
        self.pixels.iter().filter(|pixel| **pixel == colour).count()
    }

    pub(crate) fn is_all(&self, colour: Colour) -> bool {
        self.count(colour) == self.pixels.len()
    }
}

fn nearest(left: u8, above: u8, corner: u8) -> u8 {
    let (a, b, c) = (i16::from(left), i16::from(above), i16::from(corner));
    let guess = a + b - c;
    let [a, b, c] = [a, b, c].map(|side| (guess - side).abs());
    match (a <= b && a <= c, b <= c) {
        (true, _) => left,
        (false, true) => above,
        (false, false) => corner,
    }
}
