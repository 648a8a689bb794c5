use super::ExprError;

#[derive(Debug, Clone, PartialEq)]
pub(super) enum Token {
    Number(f32),
    Name(String),
    /// An operator or a bracket.
    Mark(&'static str),
}

/// Longer ones first: `<=` is not `<` and `=`.
const MARKS: [&str; 22] = [
    "<=", ">=", "==", "!=", "&&", "||", "<", ">", "=", "!", "?", ":", "+", "-", "*", "/", "(", ")", ",", ";",
    "^", "%",
];

/// Letters of a name at most.
const MAX_NAME: usize = 64;

/// The tokens of a text, each with its column, and the column of its end.
pub(super) fn tokens(text: &str) -> Result<(Vec<(Token, usize)>, usize), ExprError> {
    let mut tokens = Vec::new();
    let (mut rest, mut column) = (text, 1);
    while let Some(c) = rest.chars().next() {
        let (token, length) = if c.is_whitespace() {
            (None, c.len_utf8())
        } else if let Some(mark) = MARKS.into_iter().find(|mark| rest.starts_with(mark)) {
            (Some(Token::Mark(mark)), mark.len())
        } else if c.is_ascii_digit() || c == '.' {
            let length = number_length(rest);
            let value: f32 = rest[..length]
                .parse()
                .map_err(|_| fail(column, format!("'{}' is no number", &rest[..length])))?;
            (Some(Token::Number(value)), length)
        } else if c.is_ascii_alphabetic() || c == '_' {
            let name = |c: char| c.is_ascii_alphanumeric() || c == '_';
            let length = rest.find(|c| !name(c)).unwrap_or(rest.len());
            if length > MAX_NAME {
                return Err(fail(column, format!("a name of {length} letters, but {MAX_NAME} is the limit")));
            }
            (Some(Token::Name(rest[..length].to_owned())), length)
        } else {
            let hint = "an expression has numbers, names, + - * / ( ) , ; < > = ! ? : && ||";
            return Err(fail(column, format!("'{}' means nothing here; {hint}", c.escape_debug())));
        };
        tokens.extend(token.map(|token| (token, column)));
        column += rest[..length].chars().count();
        rest = &rest[length..];
    }
    Ok((tokens, column))
}

/// Digits, a point, digits, and an exponent with its sign.
fn number_length(text: &str) -> usize {
    let bytes = text.as_bytes();
    let digits = |from: usize| from + bytes[from..].iter().take_while(|b| b.is_ascii_digit()).count();
    let mut end = digits(0);
    if bytes.get(end) == Some(&b'.') {
        end = digits(end + 1);
    }
    if matches!(bytes.get(end), Some(b'e' | b'E')) {
        let sign = usize::from(matches!(bytes.get(end + 1), Some(b'+' | b'-')));
        let exponent = digits(end + 1 + sign);
        if exponent > end + 1 + sign {
            end = exponent;
        }
    }
    end
}

pub(super) fn fail(column: usize, message: impl Into<String>) -> ExprError {
    ExprError { column, message: message.into() }
}
