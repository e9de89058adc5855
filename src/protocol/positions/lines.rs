//! The lines of one text, and every conversion between a server's positions, byte offsets and code points. The index
//! is built once, when first needed.

use std::collections::HashMap;
use std::sync::{Arc, OnceLock};

use super::{Encoding, Point, Position, Range};

/// Lines that are longer than this and not plain ASCII get waymarks, so that a minified file costs no full scan for
/// every position in it.
const LONG: usize = 512;
/// Bytes between two waymarks.
const STRIDE: usize = 256;

/// What ends a line in ECMAScript and none in LSP.
const SEPARATORS: [char; 2] = ['\u{2028}', '\u{2029}'];
/// The first byte of both.
const SEPARATOR: u8 = 0xe2;

/// A text (without byte order mark) with its lines; they end at `\n`, `\r\n` or a lone `\r`, as LSP has it. Positions
/// of a server that counts its lines otherwise ([`Encoding::EcmaScript`]) are translated.
#[derive(Debug, Clone)]
pub struct LineMap {
    text: Arc<str>,
    index: OnceLock<Arc<Index>>,
    /// The lines that separators end as well; none where the text has no separator.
    separated: OnceLock<Option<Arc<Index>>>,
}

#[derive(Debug, Default)]
struct Index {
    /// Byte offset where each line begins; never empty.
    starts: Vec<u32>,
    /// One bit a line: set where the line has bytes above 0x7f.
    wide: Vec<u64>,
    /// Waymarks of long wide lines.
    marks: HashMap<u32, Box<[Mark]>>,
}

/// What lies before a byte offset of a line, counted from the line's start.
#[derive(Debug, Clone, Copy, Default)]
struct Mark {
    bytes: u32,
    utf16: u32,
    points: u32,
}

impl Mark {
    fn units(self, encoding: Encoding) -> usize {
        (match encoding {
            Encoding::Utf8 => self.bytes,
            Encoding::Utf16 | Encoding::EcmaScript => self.utf16,
            Encoding::Utf32 => self.points,
        }) as usize
    }
}

impl Index {
    fn new(text: &str) -> Self {
        let bytes = text.as_bytes();
        let ends = memchr::memchr2_iter(b'\n', b'\r', bytes)
            .filter(|at| bytes[*at] == b'\n' || bytes.get(at + 1) != Some(&b'\n'))
            .map(|at| at + 1);
        Self::of(text, ends)
    }

    /// With lines that separators end as well.
    fn separated(text: &str) -> Self {
        let bytes = text.as_bytes();
        let ends = memchr::memchr3_iter(b'\n', b'\r', SEPARATOR, bytes).filter_map(|at| match bytes[at] {
            b'\n' => Some(at + 1),
            b'\r' => (bytes.get(at + 1) != Some(&b'\n')).then_some(at + 1),
            _ => text[at..].starts_with(SEPARATORS).then_some(at + SEPARATORS[0].len_utf8()),
        });
        Self::of(text, ends)
    }

    /// `ends` are the places just behind the line ends.
    fn of(text: &str, ends: impl Iterator<Item = usize>) -> Self {
        let mut index = Self { starts: vec![0], ..Self::default() };
        // Past 4 GiB everything counts as the last line.
        index.starts.extend(ends.map_while(|end| u32::try_from(end).ok()));
        index.wide = vec![0; index.starts.len().div_ceil(64)];
        if !text.is_ascii() {
            for line in 0..index.starts.len() {
                let content = index.content(text, line);
                if !content.is_ascii() {
                    index.wide[line / 64] |= 1 << (line % 64);
                    if content.len() > LONG {
                        index.marks.insert(small(line), waymarks(content));
                    }
                }
            }
        }
        index
    }

    /// The line's text without its terminator. `line` must exist.
    fn content<'t>(&self, text: &'t str, line: usize) -> &'t str {
        let start = self.starts[line] as usize;
        let Some(&next) = self.starts.get(line + 1) else { return &text[start..] };
        let whole = &text[start..next as usize];
        match whole.strip_suffix('\n') {
            Some(rest) => rest.strip_suffix('\r').unwrap_or(rest),
            None => whole.strip_suffix(['\r', SEPARATORS[0], SEPARATORS[1]]).unwrap_or(whole),
        }
    }

    fn is_wide(&self, line: usize) -> bool {
        self.wide[line / 64] & (1 << (line % 64)) != 0
    }

    /// The last waymark of the line for which `before` holds; the line's start where there is none.
    fn mark(&self, line: usize, before: impl Fn(Mark) -> bool) -> Mark {
        let Some(marks) = self.marks.get(&small(line)) else { return Mark::default() };
        match marks.partition_point(|mark| before(*mark)) {
            0 => Mark::default(),
            n => marks[n - 1],
        }
    }
}

fn waymarks(line: &str) -> Box<[Mark]> {
    let mut marks = Vec::with_capacity(line.len() / STRIDE);
    let (mut utf16, mut points, mut next) = (0, 0, STRIDE);
    for (at, c) in line.char_indices() {
        if at >= next {
            marks.push(Mark { bytes: small(at), utf16: small(utf16), points: small(points) });
            next = at + STRIDE;
        }
        utf16 += c.len_utf16();
        points += 1;
    }
    marks.into_boxed_slice()
}

fn small(n: usize) -> u32 {
    u32::try_from(n).unwrap_or(u32::MAX)
}

impl LineMap {
    /// Takes a text whose byte order mark, if it had one, is gone.
    pub fn new(text: Arc<str>) -> Self {
        Self { text, index: OnceLock::new(), separated: OnceLock::new() }
    }

    /// The whole text.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The whole text, shared.
    pub fn shared(&self) -> Arc<str> {
        Arc::clone(&self.text)
    }

    /// Number of lines: an empty text has one, and so has what follows the last terminator.
    pub fn line_count(&self) -> u32 {
        small(self.index().starts.len())
    }

    /// A line without its terminator.
    pub fn line(&self, line: u32) -> Option<&str> {
        let index = self.index();
        let line = line as usize;
        (line < index.starts.len()).then(|| index.content(&self.text, line))
    }

    /// The byte offset of a server's position. A character past the line's end is the line's end, a line past the last
    /// one is the end of the text, and one in the middle of a character or surrogate pair is that character's start.
    pub fn offset(&self, at: Position, encoding: Encoding) -> usize {
        let index = self.lines_of(encoding);
        let line = at.line as usize;
        if line >= index.starts.len() {
            return self.text.len();
        }
        let content = index.content(&self.text, line);
        let within = match encoding {
            _ if !index.is_wide(line) => (at.character as usize).min(content.len()),
            Encoding::Utf8 => floor(content, at.character as usize),
            _ => {
                let wanted = at.character as usize;
                let mark = index.mark(line, |mark| mark.units(encoding) <= wanted);
                advance(content, mark, wanted, encoding)
            }
        };
        index.starts[line] as usize + within
    }

    /// The same for whoever is to change something there: `None` in the middle of a character or surrogate pair, which LSP
    /// knows no positions in. Behind `\r` of a `\r\n` is past the line's end, and so the end.
    pub fn exact_offset(&self, at: Position, encoding: Encoding) -> Option<usize> {
        let offset = self.offset(at, encoding);
        let index = self.lines_of(encoding);
        let line = at.line as usize;
        if line >= index.starts.len() || !index.is_wide(line) {
            return Some(offset);
        }
        let end = index.starts[line] as usize + index.content(&self.text, line).len();
        (offset == end || self.position(offset, encoding) == at).then_some(offset)
    }

    /// Whether the text has such a place: so many lines, and so many units in that line.
    pub fn has(&self, at: Position, encoding: Encoding) -> bool {
        let index = self.lines_of(encoding);
        let line = at.line as usize;
        let Some(start) = index.starts.get(line) else { return false };
        let end = *start as usize + index.content(&self.text, line).len();
        at.character <= self.locate(end, encoding).1
    }

    /// Where the text ends as ECMAScript counts its lines; `None` where LSP counts the same.
    pub fn separated_end(&self) -> Option<Position> {
        self.separated().is_some().then(|| self.position(usize::MAX, Encoding::EcmaScript))
    }

    /// A server's position of a byte offset; offsets past the end, inside a character or inside a line terminator go to
    /// the nearest place before.
    pub fn position(&self, offset: usize, encoding: Encoding) -> Position {
        let (line, units) = self.locate(offset, encoding);
        Position { line, character: units }
    }

    /// Where a server's position stands in lines and code points; clamped like [`LineMap::offset`].
    pub fn point(&self, at: Position, encoding: Encoding) -> Point {
        let (line, column) = self.locate(self.offset(at, encoding), Encoding::Utf32);
        Point { line, column }
    }

    /// Both ends of a server's range in lines and code points; a reversed range collapses to its end.
    pub fn points(&self, range: Range, encoding: Encoding) -> (Point, Point) {
        let end = self.point(range.end, encoding);
        (self.point(range.start, encoding).min(end), end)
    }

    /// A server's position of lines and code points. `None` past the end; the column just behind a line's last
    /// character is allowed.
    pub fn from_point(&self, at: Point, encoding: Encoding) -> Option<Position> {
        let offset = self.point_offset(at)?;
        Some(self.position(offset, encoding))
    }

    /// The byte offset of lines and code points; `None` past the end, as in [`LineMap::from_point`].
    pub fn point_offset(&self, at: Point) -> Option<usize> {
        let index = self.index();
        let line = at.line as usize;
        let content = self.line(at.line)?;
        let wanted = at.column as usize;
        let within = if index.is_wide(line) {
            let mark = index.mark(line, |mark| mark.points as usize <= wanted);
            let rest = &content[mark.bytes as usize..];
            let missing = wanted - mark.points as usize;
            let mut ends = rest.char_indices().map(|(at, _)| at).chain([rest.len()]);
            mark.bytes as usize + ends.nth(missing)?
        } else {
            (wanted <= content.len()).then_some(wanted)?
        };
        Some(index.starts[line] as usize + within)
    }

    /// Number of code points in a line; `None` where there is no such line.
    pub fn line_columns(&self, line: u32) -> Option<u32> {
        let content = self.line(line)?;
        let offset = self.index().starts[line as usize] as usize + content.len();
        Some(self.locate(offset, Encoding::Utf32).1)
    }

    /// The text of a server's range, clamped; a reversed range is empty.
    pub fn range_text(&self, range: Range, encoding: Encoding) -> &str {
        let end = self.offset(range.end, encoding);
        let start = self.offset(range.start, encoding).min(end);
        &self.text[start..end]
    }

    /// Line and units before `offset` in that line.
    fn locate(&self, offset: usize, encoding: Encoding) -> (u32, u32) {
        let index = self.lines_of(encoding);
        let offset = floor(&self.text, offset);
        let line = index.starts.partition_point(|start| *start as usize <= offset) - 1;
        let content = index.content(&self.text, line);
        let within = (offset - index.starts[line] as usize).min(content.len());
        let units = if encoding == Encoding::Utf8 || !index.is_wide(line) {
            within
        } else {
            let mark = index.mark(line, |mark| mark.bytes as usize <= within);
            let rest = &content[mark.bytes as usize..within];
            mark.units(encoding) + rest.chars().map(|c| encoding.width(c)).sum::<usize>()
        };
        (small(line), small(units))
    }

    fn index(&self) -> &Index {
        self.index.get_or_init(|| Arc::new(Index::new(&self.text)))
    }

    /// The lines as a server of this encoding counts them.
    fn lines_of(&self, encoding: Encoding) -> &Index {
        let separated = if encoding == Encoding::EcmaScript { self.separated() } else { None };
        separated.unwrap_or_else(|| self.index())
    }

    fn separated(&self) -> Option<&Index> {
        let index = || self.text.contains(SEPARATORS).then(|| Arc::new(Index::separated(&self.text)));
        self.separated.get_or_init(index).as_deref()
    }
}

/// Byte offset in `line` of the character that holds unit `wanted`, beginning the count at `mark`.
fn advance(line: &str, mark: Mark, wanted: usize, encoding: Encoding) -> usize {
    let mut units = mark.units(encoding);
    let start = mark.bytes as usize;
    for (at, c) in line[start..].char_indices() {
        units += encoding.width(c);
        if units > wanted {
            return start + at;
        }
    }
    line.len()
}

/// The nearest character boundary at or before `at`.
fn floor(text: &str, at: usize) -> usize {
    let mut at = at.min(text.len());
    while !text.is_char_boundary(at) {
        at -= 1;
    }
    at
}
