//! The frame reader alone: what it takes, what it calls junk, and when it gives up.

use std::pin::Pin;
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll};

use expect_test::{Expect, expect};
use proptest::prelude::*;
use tokio::io::{AsyncRead, ReadBuf};

use super::super::frames::{Body, FrameError, FrameLimits, FrameReader};

const LIMITS: FrameLimits =
    FrameLimits { header: 8 * 1024, body: 64 * 1024 * 1024, keep: 64 * 1024 * 1024, junk: 1024 * 1024 };

/// Gives its bytes in pieces of at most this size.
struct Pieces<'a>(&'a [u8], usize);

impl AsyncRead for Pieces<'_> {
    fn poll_read(mut self: Pin<&mut Self>, _: &mut Context<'_>, buf: &mut ReadBuf<'_>) -> Poll<std::io::Result<()>> {
        let size = self.1.min(self.0.len()).min(buf.remaining());
        let (now, later) = self.0.split_at(size);
        buf.put_slice(now);
        self.0 = later;
        Poll::Ready(Ok(()))
    }
}

/// Bodies, junk, and why it ended.
fn read(bytes: &[u8], piece: usize) -> (Vec<Vec<u8>>, Vec<Vec<u8>>, FrameError) {
    let junk = Arc::new(Mutex::new(Vec::new()));
    let into = Arc::clone(&junk);
    let mut reader = FrameReader::new(Pieces(bytes, piece), LIMITS, move |line: &[u8]| {
        into.lock().unwrap().push(line.to_vec());
    });
    let mut bodies = Vec::new();
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    let error = runtime.block_on(async {
        loop {
            match reader.next().await {
                Ok(Body::Large(length)) => panic!("{length} bytes are kept"),
                Ok(Body::Whole(body)) => {
                    assert_eq!(body.capacity(), body.len(), "no more memory than the message needs");
                    bodies.push(body);
                }
                Err(error) => break error,
            }
        }
    });
    let junk = junk.lock().unwrap().clone();
    (bodies, junk, error)
}

#[expect(clippy::needless_pass_by_value, reason = "reads better where it is called")]
fn check(input: impl AsRef<[u8]>, expected: Expect) {
    let show = |list: &[Vec<u8>]| {
        list.iter()
            .map(|bytes| format!(" {:?}", String::from_utf8_lossy(&bytes[..bytes.len().min(40)])))
            .collect::<String>()
    };
    let whole = read(input.as_ref(), usize::MAX);
    let shown = format!("bodies:{}\njunk:{}\nend: {}\n", show(&whole.0), show(&whole.1), whole.2);
    expected.assert_eq(&shown);
    let single = read(input.as_ref(), 1);
    assert_eq!(whole.0, single.0, "byte by byte it is the same");
}

#[test]
fn headers_in_every_dress() {
    check(
        "Content-Length: 2\r\n\r\n{}content-length:2\r\n\r\n[]CONTENT-LENGTH :\t2 \n\n{}",
        expect![[r#"
            bodies: "{}" "[]" "{}"
            junk:
            end: end of output
        "#]],
    );
    check(
        "Content-Type: application/vscode-jsonrpc; charset=utf-8\r\nContent-Length: 2\r\n\r\n{}Content-Length: 2\r\nContent-Type: x\r\nX-Other: y\r\n\r\n[]",
        expect![[r#"
            bodies: "{}" "[]"
            junk:
            end: end of output
        "#]],
    );
    // Text mode on Windows; a byte order mark before everything; blank lines between messages.
    check(
        "\u{feff}Content-Length: 2\r\r\n\r\r\n{}\r\n\r\n\nContent-Length: 2\r\n\r\n[]",
        expect![[r#"
            bodies: "{}" "[]"
            junk:
            end: end of output
        "#]],
    );
    check(
        "Content-Length: 0\r\n\r\nContent-Length: 2\r\n\r\n{}",
        expect![[r#"
            bodies: "" "{}"
            junk:
            end: end of output
        "#]],
    );
}

#[test]
fn junk_before_between_and_within() {
    check(
        "Starting the server…\nContent-Length: 2\r\n\r\n{}loading 1%\rloading 2%\r\nContent-Length: 2\r\n\r\n[]bye\n",
        expect![[r#"
            bodies: "{}" "[]"
            junk: "Starting the server…" "loading 1%\rloading 2%\r" "bye"
            end: end of output
        "#]],
    );
    // The header follows the junk without a line end.
    check(
        "\u{1b}[2JContent-Length: 2\r\n\r\n{}warning: Content-Length: 2\r\n\r\n[]",
        expect![[r#"
            bodies: "{}" "[]"
            junk: "\u{1b}[2J" "warning: "
            end: end of output
        "#]],
    );
    // A log of somebody else's headers is not a header; the last length counts.
    check(
        "debug: Content-Length: many\nContent-Length: 9000\nnot a header\nContent-Length: 2\r\n\r\n{}tail",
        expect![[r#"
            bodies: "{}"
            junk: "debug: Content-Length: many" "not a header" "tail"
            end: end of output
        "#]],
    );
    // A length that is too short: the rest of the message is junk, the next is found.
    check(
        "Content-Length: 2\r\n\r\n{\"a\":1}Content-Length: 2\r\n\r\n[]",
        expect![[r#"
            bodies: "{\"" "[]"
            junk: "a\":1}"
            end: end of output
        "#]],
    );
    check(
        format!("{}Content-Length: 2\r\n\r\n{{}}", "50 % of the download \r".repeat(2_000)),
        expect![[r#"
            bodies: "{}"
            junk: "50 % of the download \r50 % of the downlo" "\r50 % of the download \r50 % of the downl"
            end: end of output
        "#]],
    );
}

#[test]
fn lengths_that_cannot_be_honoured_end_the_stream() {
    for (length, expected) in [
        ("1099511627776", expect!["a message of 1099511627776 bytes; the limit is 67108864"]),
        ("9223372036854775808", expect!["a message of 9223372036854775808 bytes; the limit is 67108864"]),
        (
            "99999999999999999999999999999999999999999999999999999",
            expect!["a message of 9999999999999999999999999999999999999999 bytes; the limit is 67108864"],
        ),
        ("67108865", expect!["a message of 67108865 bytes; the limit is 67108864"]),
        ("-1", expect!["a Content-Length that is no number: `-1`"]),
        ("", expect!["a Content-Length that is no number: ``"]),
        ("1e3", expect!["a Content-Length that is no number: `1e3`"]),
        // Announced, but never sent: costs at most one step of memory.
        ("67108864", expect!["only 2 of the 67108864 bytes of its last message"]),
    ] {
        let (_, _, error) = read(format!("Content-Length: {length}\r\n\r\n{{}}").as_bytes(), usize::MAX);
        expected.assert_eq(&error.to_string());
    }
}

#[test]
fn floods_end_the_stream() {
    let endless_line = "x".repeat(3_000_000);
    let endless_header = format!("Content-Length: 2\r\n{}", "X-A: b\r\n".repeat(100_000));
    let endless_lines = "nothing of interest\n".repeat(100_000);
    let endless_progress = "1 %\r".repeat(500_000);
    let endless_blank = format!("Content-Length: 2\r\n\r\n{{}}{}", "\r\n".repeat(100_000));
    for (flood, expected) in [
        (&endless_line, expect!["a header line of more than 8192 bytes"]),
        (&endless_header, expect!["a header of more than 8192 bytes"]),
        (&endless_lines, expect!["more than 1048576 bytes in a row that are no message"]),
        (&endless_progress, expect!["more than 1048576 bytes in a row that are no message"]),
        (&endless_blank, expect!["end of output"]),
    ] {
        let (_, _, error) = read(flood.as_bytes(), 4096);
        expected.assert_eq(&error.to_string());
    }
}

#[test]
fn large_bodies_take_their_own_size() {
    let size = 3 * 1024 * 1024 + 5;
    let mut input = format!("Content-Length: {size}\r\n\r\n").into_bytes();
    input.resize(input.len() + size, b' ');
    let (bodies, ..) = read(&input, 60_000);
    assert_eq!(bodies[0].len(), size);
}

#[test]
fn what_is_not_kept_is_passed_over() {
    let input = format!(
        "Content-Length: 11\r\n\r\n{}Content-Length: 2\r\n\r\n{{}}Content-Length: 30\r\n\r\nend",
        "x".repeat(11)
    );
    for piece in [1, 7, usize::MAX] {
        let limits = FrameLimits { keep: 10, ..LIMITS };
        let mut reader = FrameReader::new(Pieces(input.as_bytes(), piece), limits, |_: &[u8]| panic!("no junk"));
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        runtime.block_on(async {
            let mut seen = Vec::new();
            assert!(matches!(reader.next().await, Ok(Body::Large(11))));
            reader.pass_over(11, &mut |bytes| seen.extend_from_slice(bytes)).await.unwrap();
            assert_eq!(seen, [b'x'; 11]);
            assert!(matches!(reader.next().await, Ok(Body::Whole(body)) if body == b"{}"));
            assert!(matches!(reader.next().await, Ok(Body::Large(30))));
            let error = reader.pass_over(30, &mut |_| {}).await.unwrap_err();
            assert_eq!(error.to_string(), "only 3 of the 30 bytes of its last message");
        });
    }
}

proptest! {
    #[test]
    fn any_bytes_end_without_a_panic(bytes in proptest::collection::vec(any::<u8>(), 0..2_000), piece in 1usize..64) {
        read(&bytes, piece);
    }

    #[test]
    fn messages_survive_junk_lines(
        messages in proptest::collection::vec(("[a-zA-Z …:]{0,40}\n?", "[^\u{0}]{0,60}"), 1..8),
        piece in 1usize..100,
    ) {
        let mut input = Vec::new();
        for (junk, body) in &messages {
            input.extend_from_slice(format!("{junk}Content-Length: {}\r\n\r\n{body}", body.len()).as_bytes());
        }
        let (bodies, ..) = read(&input, piece);
        let expected: Vec<_> = messages.iter().map(|(_, body)| body.clone().into_bytes()).collect();
        prop_assert_eq!(bodies, expected);
    }
}
