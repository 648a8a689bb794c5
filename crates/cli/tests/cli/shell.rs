//! Lines of shell in the documents, taken apart. They are not run: they download, need a GPU or take hours.

/// The commands of a script, each as its words. Quotes, comments, substitutions and continued lines are understood, no more.
pub(crate) fn commands(script: &str) -> Vec<Vec<String>> {
    let (mut commands, mut command, mut word) = (Vec::new(), Vec::new(), String::new());
    let (mut quote, mut depth) = (None, 0);
    let mut chars = script.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            '\'' | '"' if quote.is_none() => quote = Some(c),
            c if quote == Some(c) => quote = None,
            '\\' if chars.peek() == Some(&'\n') => drop(chars.next()),
            '#' if quote.is_none() && word.is_empty() => while chars.next_if(|&c| c != '\n').is_some() {},
            '(' | ')' if quote.is_none() => {
                depth += if c == '(' { 1 } else { -1 };
                word.push(c);
            }
            c if quote.is_some() || depth > 0 => word.push(c),
            c if c.is_whitespace() || matches!(c, '|' | '&' | ';') => {
                if !word.is_empty() {
                    command.push(std::mem::take(&mut word));
                }
                // A pipe may go on in the next line; an empty command is none.
                if !c.is_whitespace() || c == '\n' {
                    commands.push(std::mem::take(&mut command));
                }
            }
            c => word.push(c),
        }
    }
    command.extend((!word.is_empty()).then_some(word));
    commands.push(command);
    commands.retain(|command| !command.is_empty());
    commands
}

/// A command without what stands before its program: words of the shell, variables that are set for it.
pub(crate) fn program(command: &[String]) -> &[String] {
    let is_before = |word: &&String| {
        let name = word.split('=').next().unwrap_or_default();
        *word == "do" || word.contains('=') && name.chars().all(|c| c.is_ascii_uppercase() || c == '_')
    };
    &command[command.iter().take_while(is_before).count()..]
}

#[test]
fn scripts_are_taken_apart_as_a_shell_does() {
    let script = "A=$(b c | d) mip run -e 'x ! y' *.jpg # not this\nffmpeg -i \"a b\" |\n  mip ops \\\n  resize && true; done";
    let found: Vec<Vec<String>> = commands(script);
    let words: Vec<Vec<&str>> =
        found.iter().map(|words| words.iter().map(String::as_str).collect()).collect();
    let expected: [&[&str]; 5] = [
        &["A=$(b c | d)", "mip", "run", "-e", "x ! y", "*.jpg"],
        &["ffmpeg", "-i", "a b"],
        &["mip", "ops", "resize"],
        &["true"],
        &["done"],
    ];
    assert_eq!(words, expected);
    assert_eq!(program(&found[0])[0], "mip");
}
