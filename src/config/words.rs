//! Numbers with their nouns, for messages.

/// `1 error`, `2 errors`, `20,001 references`.
pub fn count(number: usize, one: &str, many: &str) -> String {
    if number == 1 { format!("1 {one}") } else { format!("{} {many}", thousands(number)) }
}

/// A number with its thousands apart.
fn thousands(number: usize) -> String {
    let digits = number.to_string();
    let mut text = String::with_capacity(digits.len() + digits.len() / 3);
    for (i, digit) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_and_many() {
        let counted = [1, 0, 2, 999, 20_001, 1_234_567].map(|number| count(number, "error", "errors"));
        assert_eq!(counted, ["1 error", "0 errors", "2 errors", "999 errors", "20,001 errors", "1,234,567 errors"]);
    }
}
