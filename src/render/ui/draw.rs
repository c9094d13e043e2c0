//! Each kind of node.

use outfitter_codec::ui::{Cell, ChartStyle, DiffLine, DiffOp, Node, Series, Tone, UiSchema};

use super::page::Page;
use super::{cells, table};
use crate::render::text::{columns, one_line};
use crate::render::{Detail, Face, Ink, units};

/// How many lines are drawn of one result.
const CALM_LINES: usize = 24;
const FULL_LINES: usize = 400;

/// How many columns the longest bar of a chart has.
const BAR: usize = 24;

/// What a result means to its reader, drawn beneath the call.
pub(in crate::render) fn draw(face: Face, detail: Detail, schema: &UiSchema) -> String {
    let mut page = Page::new(face);
    node(&mut page, &schema.root);
    if detail == Detail::Full {
        for fault in &schema.diagnostics {
            let words = format!("the hints at {:?}: {}", fault.path, fault.message);
            page.words(Ink::Quiet, "", &words);
        }
    }
    let most = match detail {
        Detail::Calm => CALM_LINES,
        Detail::Full => FULL_LINES,
    };
    let (mut text, all) = page.text(most);
    let more = all.saturating_sub(most) as u64;
    text.push_str(&crate::render::call::left_out(face.colour, more));
    text
}

fn node(page: &mut Page, node: &Node) {
    match node {
        Node::Group { title, children } => {
            page.heading(title.as_deref());
            for child in children {
                self::node(page, child);
            }
        }
        Node::Text { text, tone } => page.words(ink(*tone), "", text),
        Node::KeyValues {
            title,
            entries,
            omitted,
        } => {
            page.heading(title.as_deref());
            let pairs = entries.iter().map(|one| (one_line(&one.label), &one.value));
            table::entries(page, pairs);
            page.omitted(*omitted, "more", "more");
        }
        Node::Table {
            title,
            columns,
            rows,
            omitted,
            empty,
        } => {
            page.heading(title.as_deref());
            if rows.is_empty() {
                nothing(page, empty.as_deref());
            } else {
                table::table(page, columns, rows);
            }
            page.omitted(*omitted, "more row", "more rows");
        }
        Node::List {
            title,
            ordered,
            items,
            omitted,
            empty,
        } => {
            page.heading(title.as_deref());
            if items.is_empty() {
                nothing(page, empty.as_deref());
            }
            list(page, *ordered, items);
            page.omitted(*omitted, "more item", "more items");
        }
        Node::Code {
            title,
            language: _,
            text,
            omitted,
        } => {
            page.heading(title.as_deref());
            for line in text.lines() {
                page.exact(Ink::Plain, line);
            }
            page.omitted(*omitted, "more byte", "more bytes");
        }
        Node::Diff {
            title,
            lines,
            omitted,
        } => {
            page.heading(title.as_deref());
            for line in lines {
                diff_line(page, line);
            }
            page.omitted(*omitted, "more line", "more lines");
        }
        Node::Link { label, url } => match label == url {
            true => page.words(Ink::Active, "", url),
            false => page.words(Ink::Active, &format!("{}  ", one_line(label)), url),
        },
        Node::Image { alt, url, artifact } => {
            let place = url.as_deref().or(artifact.as_deref()).unwrap_or_default();
            page.words(Ink::Quiet, "picture  ", &format!("{alt}  {place}"));
        }
        Node::Chart {
            title,
            style,
            series,
            omitted,
        } => {
            page.heading(title.as_deref());
            for one in series {
                chart(page, *style, one);
            }
            page.omitted(*omitted, "more point", "more points");
        }
        Node::Actions { actions } => {
            for action in actions {
                page.words(Ink::Plain, "→ ", &action.label);
            }
        }
    }
}

fn ink(tone: Tone) -> Ink {
    match tone {
        Tone::Plain => Ink::Plain,
        Tone::Strong => Ink::Name,
        Tone::Muted => Ink::Quiet,
        Tone::Info => Ink::Active,
        Tone::Success => Ink::Good,
        Tone::Warning => Ink::Caution,
        Tone::Error => Ink::Bad,
    }
}

fn nothing(page: &mut Page, empty: Option<&str>) {
    page.words(Ink::Quiet, "", empty.unwrap_or("nothing"));
}

fn list(page: &mut Page, ordered: bool, items: &[Cell]) {
    let digits = items.len().to_string().len();
    for (number, item) in (1..).zip(items) {
        let mark = match ordered {
            true => format!("{number:>digits$}. "),
            false => "• ".to_owned(),
        };
        page.words(Ink::Plain, &mark, &cells::words(item));
    }
}

fn diff_line(page: &mut Page, line: &DiffLine) {
    let (sign, ink) = match line.op {
        DiffOp::Meta | DiffOp::Hunk => ("", Ink::Quiet),
        DiffOp::Context => (" ", Ink::Quiet),
        DiffOp::Remove => ("-", Ink::Bad),
        DiffOp::Add => ("+", Ink::Good),
    };
    page.exact(ink, &format!("{sign}{}", line.text));
}

/// Bars for both styles: a line of text goes from left to right, and numbers are read from it.
fn chart(page: &mut Page, style: ChartStyle, series: &Series) {
    let (ChartStyle::Bar | ChartStyle::Line) = style;
    page.heading(Some(&series.label));
    let most = series.points.iter().map(|point| point.y.abs());
    let most = most.fold(0.0_f64, f64::max);
    let names: Vec<String> = series.points.iter().map(|one| one_line(&one.x)).collect();
    let width = names.iter().map(|name| columns(name)).max();
    let width = width.unwrap_or_default();
    for (name, point) in names.iter().zip(&series.points) {
        let blanks = " ".repeat(width - columns(name));
        let bar = "█".repeat(units::part(point.y.abs(), most, BAR));
        let line = format!("{name}{blanks}  {bar} {}", point.y);
        page.exact(Ink::Plain, &line);
    }
}
