//! The repository's Markdown, as GitHub and mdBook read it: links, headings, blocks between fences.

use std::collections::HashSet;
use std::path::{Path, PathBuf};

use pulldown_cmark::{BrokenLink, CodeBlockKind, Event, LinkType, Options, Parser, Tag, TagEnd};

/// What a document holds. Lines count from 1.
#[derive(Default)]
pub(crate) struct Document {
    /// Where links and images lead, and on which line they stand.
    pub(crate) links: Vec<(String, usize)>,
    /// `[text][name]` whose name is nowhere defined.
    pub(crate) undefined: Vec<(String, usize)>,
    /// What `#...` may name.
    pub(crate) anchors: HashSet<String>,
    pub(crate) blocks: Vec<Block>,
}

/// A block between fences: what it is marked as, its text, and the line of its fence.
pub(crate) struct Block {
    pub(crate) mark: String,
    pub(crate) text: String,
    pub(crate) line: usize,
}

pub(crate) fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// The text of a file, named from the repository's root.
pub(crate) fn text_of(name: &str) -> String {
    std::fs::read_to_string(root().join(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
}

/// All Markdown files, named from the repository's root, sorted.
pub(crate) fn documents() -> Vec<String> {
    let mut found = Vec::new();
    let mut folders = vec![PathBuf::new()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(root().join(&folder)).unwrap() {
            let entry = entry.unwrap();
            let name = entry.file_name().into_string().unwrap_or_default();
            let path = folder.join(&name);
            // What is built, and what tools keep for themselves, is nobody's text.
            let skipped = name.starts_with("target") || (name.starts_with('.') && name != ".github");
            // What a symbolic link leads to is read in its own place.
            let kind = entry.file_type().unwrap();
            if kind.is_dir() && !skipped {
                folders.push(path);
            } else if kind.is_file() && path.extension().is_some_and(|extension| extension == "md") {
                found.push(path.to_str().unwrap().replace('\\', "/"));
            }
        }
    }
    found.sort();
    found
}

pub(crate) fn read(text: &str) -> Document {
    let mut undefined = Vec::new();
    let mut document = Document::default();
    // `[x]` alone may be meant as it stands; with a second pair of brackets it is a link.
    let note = |link: BrokenLink<'_>| {
        if link.link_type != LinkType::Shortcut {
            undefined.push((link.reference.to_string(), line_of(text, link.span.start)));
        }
        None
    };
    let mut heading: Option<String> = None;
    let mut block: Option<Block> = None;
    let parser = Parser::new_with_broken_link_callback(text, Options::ENABLE_TABLES, Some(note));
    for (event, span) in parser.into_offset_iter() {
        let line = line_of(text, span.start);
        match event {
            Event::Start(Tag::Link { dest_url, .. } | Tag::Image { dest_url, .. }) => {
                document.links.push((dest_url.to_string(), line));
            }
            Event::Start(Tag::Heading { .. }) => heading = Some(String::new()),
            Event::End(TagEnd::Heading(_)) => {
                let slug = slug(&heading.take().unwrap_or_default());
                let numbered = (1..).map(|number| format!("{slug}-{number}"));
                let free = std::iter::once(slug.clone())
                    .chain(numbered)
                    .find(|name| !document.anchors.contains(name));
                document.anchors.extend(free);
            }
            Event::Start(Tag::CodeBlock(CodeBlockKind::Fenced(mark))) => {
                block = Some(Block { mark: mark.to_string(), text: String::new(), line });
            }
            Event::End(TagEnd::CodeBlock) => document.blocks.extend(block.take()),
            Event::Text(text) | Event::Code(text) => {
                for open in
                    [heading.as_mut(), block.as_mut().map(|block| &mut block.text)].into_iter().flatten()
                {
                    open.push_str(&text);
                }
            }
            _ => {}
        }
    }
    document.undefined = undefined;
    document
}

fn line_of(text: &str, offset: usize) -> usize {
    1 + text[..offset].matches('\n').count()
}

/// The anchor of a heading: GitHub's rule, and mdBook's.
fn slug(heading: &str) -> String {
    let kept = |c: char| match c {
        c if c.is_alphanumeric() || c == '_' || c == '-' => Some(c),
        c if c.is_whitespace() => Some('-'),
        _ => None,
    };
    heading.trim().to_lowercase().chars().filter_map(kept).collect()
}

#[test]
fn documents_are_read_as_github_and_mdbook_read_them() {
    let document = read(concat!(
        "# What `mip bench` measures, and 2x\n\n[a](b.md#c) `[no](link)` ![p](q.svg) [r][s] [t][] [u]\n\n",
        "## Twice\n\n## Twice\n\n* in a list\n\n  ```sh\n  mip ops\n  ```\n\n[s]: v.md\n"
    ));
    assert_eq!(
        document.links,
        [("b.md#c", 3), ("q.svg", 3), ("v.md", 3)].map(|(to, line)| (to.to_owned(), line))
    );
    assert_eq!(document.undefined, [("t".to_owned(), 3)]);
    let anchors = ["what-mip-bench-measures-and-2x", "twice", "twice-1"].map(str::to_owned);
    assert_eq!(document.anchors, HashSet::from(anchors));
    let block = &document.blocks[0];
    assert_eq!((block.mark.as_str(), block.text.as_str(), block.line), ("sh", "mip ops\n", 11));
}
