//! What a picture is, by its first bytes and never by its name.

use imagesize::ImageType;
use outfitter_core::ToolError;

/// The most bytes of a picture that are read.
pub(super) const MAX_BYTES: u64 = 5 << 20;

/// The longest side that is shown to a model.
pub(super) const MAX_SIDE: usize = 8000;

/// What a picture is.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Picture {
    /// Its media type.
    pub(super) mime: &'static str,
    /// Its width in pixels.
    pub(super) width: usize,
    /// Its height in pixels.
    pub(super) height: usize,
}

/// Looks at the bytes.
pub(super) fn look(bytes: &[u8]) -> Result<Picture, ToolError> {
    let mime = match imagesize::image_type(bytes) {
        Ok(ImageType::Png) => "image/png",
        Ok(ImageType::Jpeg) => "image/jpeg",
        Ok(ImageType::Gif) => "image/gif",
        Ok(ImageType::Webp) => "image/webp",
        Ok(ImageType::Bmp) => "image/bmp",
        Ok(_) | Err(_) => return Err(no_picture(bytes)),
    };
    let size = imagesize::blob_size(bytes).map_err(|error| {
        let message = format!("it begins like {mime} and is broken: {error}");
        ToolError::invalid("/image", message)
    })?;
    let height = match (mime, u32::try_from(size.height)) {
        // Rows that are stored from the top down are a height below zero there.
        ("image/bmp", Ok(height)) => height.cast_signed().unsigned_abs() as usize,
        _ => size.height,
    };
    Ok(Picture {
        mime,
        width: size.width,
        height,
    })
}

fn no_picture(bytes: &[u8]) -> ToolError {
    let start = String::from_utf8_lossy(&bytes[..bytes.len().min(1024)]).to_ascii_lowercase();
    let wrong = |message: &str| ToolError::invalid("/image", message);
    if bytes.is_empty() {
        return wrong("it is empty");
    }
    if start.contains("<svg") {
        return wrong("it is SVG, which is a text and has no pixels")
            .with_hint("file_read and fetch_webpages read it as text");
    }
    match infer::get(bytes) {
        Some(kind) => wrong(&format!(
            "it is {}, not a picture that can be looked at",
            kind.mime_type()
        )),
        None => wrong("it is not a picture"),
    }
    .with_hint("PNG, JPEG, GIF, WebP and BMP can be looked at")
}

#[cfg(test)]
mod tests {
    use super::*;
    use outfitter_core::Code;
    use rstest::rstest;

    const PNG: &[u8] = b"\x89PNG\r\n\x1a\n\0\0\0\x0dIHDR\0\0\x01\x02\0\0\0\x03\x08\x06\0\0\0";

    #[rstest]
    #[case::png(PNG, "image/png", 258, 3)]
    #[case::gif(b"GIF89a\x05\0\x06\0\0\0\0\0\0\0\0\0", "image/gif", 5, 6)]
    #[case::bmp(
        b"BM\0\0\0\0\0\0\0\0\x36\0\0\0\x28\0\0\0\x07\0\0\0\x08\0\0\0\x01\0\x18\0",
        "image/bmp",
        7,
        8
    )]
    #[case::bmp_from_the_top_down(
        b"BM\0\0\0\0\0\0\0\0\x36\0\0\0\x28\0\0\0\x04\0\0\0\xfc\xff\xff\xff\x01\0\x18\0",
        "image/bmp",
        4,
        4
    )]
    #[case::jpeg(
        b"\xff\xd8\xff\xe0\0\x10JFIF\0\x01\x01\0\0\x01\0\x01\0\0\xff\xc0\0\x11\x08\0\x09\0\x0a\x03\x01\x22\0\x02\x11\x01\x03\x11\x01",
        "image/jpeg", 10, 9
    )]
    #[case::webp(
        b"RIFF\x1e\0\0\0WEBPVP8X\x0a\0\0\0\0\0\0\0\x0a\0\0\x0b\0\0\0\0\0\0",
        "image/webp",
        11,
        12
    )]
    #[case::huge(
        b"\x89PNG\r\n\x1a\n\0\0\0\x0dIHDR\x7f\xff\xff\xff\x7f\xff\xff\xff\x08\x06\0\0\0",
        "image/png",
        0x7fff_ffff,
        0x7fff_ffff
    )]
    fn a_picture_is_known_by_its_bytes(
        #[case] bytes: &[u8],
        #[case] mime: &str,
        #[case] width: usize,
        #[case] height: usize,
    ) {
        let seen = look(bytes).unwrap();
        assert_eq!((seen.mime, seen.width, seen.height), (mime, width, height));
    }

    #[rstest]
    #[case::empty(b"", "it is empty")]
    #[case::svg(
        b"<?xml version='1.0'?><SVG width='1'/>",
        "it is SVG, which is a text and has no pixels"
    )]
    #[case::text(b"hello", "it is not a picture")]
    #[case::pdf(
        b"%PDF-1.7\n",
        "it is application/pdf, not a picture that can be looked at"
    )]
    fn what_is_no_picture_is_told_as_what_it_is(#[case] bytes: &[u8], #[case] message: &str) {
        let error = look(bytes).unwrap_err();
        assert_eq!(
            (error.code(), error.info().message.as_str()),
            (Code::InvalidArguments, message)
        );
    }

    #[test]
    fn a_picture_that_breaks_off_is_told() {
        let error = look(&PNG[..12]).unwrap_err();
        assert_eq!(error.code(), Code::InvalidArguments);
    }
}
