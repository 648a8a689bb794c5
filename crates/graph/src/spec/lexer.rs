//! The marks and words of the one-line form.

use mip_core::text;

use super::Places;
use crate::GraphError;

#[derive(Debug, Clone, PartialEq)]
pub(super) enum Token {
    /// `!`
    Bang,
    /// `=`
    Equals,
    /// `,`
    Comma,
    /// `[`
    Open,
    /// `]`
    Close,
    /// A word as it stands.
    Bare(String),
    /// A text that stood in quotes.
    Quoted(String),
}

impl Token {
    /// For messages.
    pub(super) fn described(&self) -> String {
        match self {
            Self::Bang => "'!'".to_owned(),
            Self::Equals => "'='".to_owned(),
            Self::Comma => "','".to_owned(),
            Self::Open => "'['".to_owned(),
            Self::Close => "']'".to_owned(),
            Self::Bare(word) => format!("'{}'", text::quoted(word)),
            Self::Quoted(inside) => format!("\"{}\"", text::quoted(inside)),
        }
    }
}

/// Whether a character ends a bare word.
pub(super) fn is_mark(c: char) -> bool {
    c.is_whitespace() || matches!(c, '!' | '=' | ',' | '[' | ']' | '"')
}

/// All tokens with their byte offsets.
pub(super) fn tokens(text: &str, file: &str) -> Result<Vec<(Token, usize)>, GraphError> {
    let mut tokens = Vec::new();
    let mut chars = text.char_indices().peekable();
    while let Some((at, c)) = chars.next() {
        let token = match c {
            c if c.is_whitespace() => continue,
            '!' => Token::Bang,
            '=' => Token::Equals,
            ',' => Token::Comma,
            '[' => Token::Open,
            ']' => Token::Close,
            '"' => Token::Quoted(quoted(&mut chars).ok_or_else(|| {
                let error = GraphError::Syntax("the quotes that open here are never closed".to_owned());
                error.at(file, Some(Places::new(text).of(at)))
            })?),
            c => {
                let mut word = String::from(c);
                while let Some((_, c)) = chars.next_if(|&(_, c)| !is_mark(c)) {
                    word.push(c);
                }
                Token::Bare(word)
            }
        };
        tokens.push((token, at));
    }
    Ok(tokens)
}

/// The text up to the closing quotes; a backslash takes the next character as it is.
fn quoted(chars: &mut impl Iterator<Item = (usize, char)>) -> Option<String> {
    let mut text = String::new();
    loop {
        match chars.next()?.1 {
            '"' => return Some(text),
            '\\' => text.push(chars.next()?.1),
            c => text.push(c),
        }
    }
}
