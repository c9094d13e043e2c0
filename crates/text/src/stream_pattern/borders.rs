//! What an expression asks of the characters around a place.

use regex_syntax::hir::{Capture, Hir, HirKind, Look, LookSet, Repetition};

/// Whether any of these depends on the character that comes next.
pub(super) fn looks_ahead(looks: LookSet) -> bool {
    looks.iter().any(|look| match look {
        Look::Start | Look::StartLF | Look::StartCRLF => false,
        Look::End
        | Look::EndLF
        | Look::EndCRLF
        | Look::WordAscii
        | Look::WordAsciiNegate
        | Look::WordUnicode
        | Look::WordUnicodeNegate
        | Look::WordStartAscii
        | Look::WordEndAscii
        | Look::WordStartUnicode
        | Look::WordEndUnicode
        | Look::WordStartHalfAscii
        | Look::WordEndHalfAscii
        | Look::WordStartHalfUnicode
        | Look::WordEndHalfUnicode => true,
    })
}

/// The same expression with borders of ASCII words: an automaton on bytes cannot see those of
/// others.
pub(super) fn with_ascii_words(hir: Hir) -> Hir {
    match hir.into_kind() {
        HirKind::Empty => Hir::empty(),
        HirKind::Literal(literal) => Hir::literal(literal.0),
        HirKind::Class(class) => Hir::class(class),
        HirKind::Look(look) => Hir::look(ascii(look)),
        HirKind::Repetition(repetition) => Hir::repetition(Repetition {
            sub: Box::new(with_ascii_words(*repetition.sub)),
            ..repetition
        }),
        HirKind::Capture(capture) => Hir::capture(Capture {
            sub: Box::new(with_ascii_words(*capture.sub)),
            ..capture
        }),
        HirKind::Concat(parts) => Hir::concat(parts.into_iter().map(with_ascii_words).collect()),
        HirKind::Alternation(parts) => {
            Hir::alternation(parts.into_iter().map(with_ascii_words).collect())
        }
    }
}

fn ascii(look: Look) -> Look {
    match look {
        Look::WordUnicode => Look::WordAscii,
        Look::WordUnicodeNegate => Look::WordAsciiNegate,
        Look::WordStartUnicode => Look::WordStartAscii,
        Look::WordEndUnicode => Look::WordEndAscii,
        Look::WordStartHalfUnicode => Look::WordStartHalfAscii,
        Look::WordEndHalfUnicode => Look::WordEndHalfAscii,
        Look::Start
        | Look::End
        | Look::StartLF
        | Look::EndLF
        | Look::StartCRLF
        | Look::EndCRLF
        | Look::WordAscii
        | Look::WordAsciiNegate
        | Look::WordStartAscii
        | Look::WordEndAscii
        | Look::WordStartHalfAscii
        | Look::WordEndHalfAscii => look,
    }
}
