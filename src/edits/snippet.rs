//! Snippets made plain: where the cursor would go is forgotten, what stands there by default stays. What only an editor
//! can fill in is refused.

use std::collections::HashMap;

/// The snippet's text with nothing left to fill in.
///
/// # Errors
/// When it holds a choice, a variable or a transformation.
pub(super) fn flatten(snippet: &str) -> Result<String, &'static str> {
    let mut reader = Reader { rest: snippet, depth: 0 };
    let pieces = reader.pieces(false)?;
    let mut values = HashMap::new();
    collect(&pieces, &mut values);
    let mut text = String::new();
    write(&pieces, &values, &mut text)?;
    Ok(text)
}

enum Piece {
    Text(String),
    /// `$1`, `${1}`, `${1:default}`
    Stop(u32, Option<Vec<Piece>>),
}

/// Defaults within defaults.
const DEEPEST: usize = 16;
/// Mirrors make much of little.
const LONGEST: usize = 1 << 20;

struct Reader<'s> {
    rest: &'s str,
    depth: usize,
}

impl Reader<'_> {
    /// Up to the end, or up to the `}` that closes a default.
    fn pieces(&mut self, inner: bool) -> Result<Vec<Piece>, &'static str> {
        let mut pieces = Vec::new();
        let mut text = String::new();
        let mut chars = self.rest.chars();
        while let Some(c) = chars.next() {
            self.rest = chars.as_str();
            match c {
                // Before anything else a backslash is one.
                '\\' if self.rest.starts_with(['\\', '$', '}']) => text.extend(chars.next()),
                '}' if inner => {
                    push(&mut pieces, text);
                    return Ok(pieces);
                }
                '$' => {
                    if let Some(stop) = self.stop()? {
                        push(&mut pieces, std::mem::take(&mut text));
                        pieces.push(stop);
                    } else {
                        text.push('$');
                    }
                    chars = self.rest.chars();
                }
                c => text.push(c),
            }
            self.rest = chars.as_str();
        }
        if inner {
            return Err("a placeholder does not end");
        }
        push(&mut pieces, text);
        Ok(pieces)
    }

    /// What follows a `$`; `None` where that is a mere `$`.
    fn stop(&mut self) -> Result<Option<Piece>, &'static str> {
        if let Some(number) = self.number()? {
            return Ok(Some(Piece::Stop(number, None)));
        }
        if self.rest.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_') {
            return Err("a variable");
        }
        let Some(inside) = self.rest.strip_prefix('{') else { return Ok(None) };
        self.rest = inside;
        let Some(number) = self.number()? else { return Err("a variable") };
        let Some(c) = self.rest.chars().next() else { return Err("a placeholder does not end") };
        self.rest = &self.rest[c.len_utf8()..];
        match c {
            '}' => Ok(Some(Piece::Stop(number, None))),
            ':' if self.depth < DEEPEST => {
                self.depth += 1;
                let inner = self.pieces(true)?;
                self.depth -= 1;
                Ok(Some(Piece::Stop(number, Some(inner))))
            }
            ':' => Err("placeholders in placeholders"),
            '|' => Err("a choice"),
            _ => Err("a transformation"),
        }
    }

    fn number(&mut self) -> Result<Option<u32>, &'static str> {
        let digits = self.rest.bytes().take_while(u8::is_ascii_digit).count();
        if digits == 0 {
            return Ok(None);
        }
        let number = self.rest[..digits].parse().map_err(|_| "a placeholder's number is too large")?;
        self.rest = &self.rest[digits..];
        Ok(Some(number))
    }
}

fn push(pieces: &mut Vec<Piece>, text: String) {
    if !text.is_empty() {
        pieces.push(Piece::Text(text));
    }
}

/// The first default of each number: the others mirror it.
fn collect<'p>(pieces: &'p [Piece], values: &mut HashMap<u32, &'p [Piece]>) {
    for piece in pieces {
        if let Piece::Stop(number, Some(inner)) = piece {
            values.entry(*number).or_insert(inner);
            collect(inner, values);
        }
    }
}

fn write(pieces: &[Piece], values: &HashMap<u32, &[Piece]>, text: &mut String) -> Result<(), &'static str> {
    for piece in pieces {
        match piece {
            Piece::Text(plain) => text.push_str(plain),
            Piece::Stop(_, Some(inner)) => write(inner, values, text)?,
            Piece::Stop(number, None) => match values.get(number) {
                None | Some([]) => {}
                Some([Piece::Text(value)]) => text.push_str(value),
                // It could hold itself.
                Some(_) => return Err("a mirrored placeholder with placeholders in it"),
            },
        }
        if text.len() > LONGEST {
            return Err("it is too long");
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};

    use super::*;

    fn check(snippet: &str, expected: &Expect) {
        expected.assert_eq(&match flatten(snippet) {
            Ok(text) => format!("{text:?}"),
            Err(why) => format!("refused: {why}"),
        });
    }

    #[test]
    fn plain_ones() {
        check("fn $0() {}", &expect![[r#""fn () {}""#]]);
        check("let ${1:name} = ${2:f(${3:x})};$0 // $1", &expect![[r#""let name = f(x); // name""#]]);
        check(r"cost \$5, a \} and a \\ and a \n", &expect![[r#""cost $5, a } and a \\ and a \\n""#]]);
        check("a $ b, ${1:}é}", &expect![[r#""a $ b, é}""#]]);
        check("$2 ${2:b} ${1:a $2}", &expect![[r#""b b a b""#]]);
    }

    #[test]
    fn those_that_need_an_editor() {
        check("${1|a,b|}", &expect!["refused: a choice"]);
        check("$TM_FILENAME", &expect!["refused: a variable"]);
        check("${x:y}", &expect!["refused: a variable"]);
        check("${1/a/b/}", &expect!["refused: a transformation"]);
        check("${1:a", &expect!["refused: a placeholder does not end"]);
        check("$99999999999", &expect!["refused: a placeholder's number is too large"]);
        check("${1:a $1}", &expect!["refused: a mirrored placeholder with placeholders in it"]);
        check(&"${1:".repeat(40), &expect!["refused: placeholders in placeholders"]);
    }
}
