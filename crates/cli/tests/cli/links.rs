//! Every link leads somewhere: in the files as they are, and in the book that mdBook makes of those under `docs`.

use std::collections::BTreeMap;

use crate::markdown::{self, Document, documents, root, text_of};

const SUMMARY: &str = "docs/SUMMARY.md";

/// The path, from the repository's root, that `target` means in the file `from`. None: it leaves the repository.
fn resolved(from: &str, target: &str) -> Option<String> {
    let folder = from.rsplit_once('/').map_or("", |(folder, _)| folder);
    let mut parts: Vec<&str> = folder.split('/').filter(|part| !part.is_empty()).collect();
    for part in target.split('/') {
        match part {
            "" | "." => {}
            ".." => drop(parts.pop()?),
            name => parts.push(name),
        }
    }
    Some(parts.join("/"))
}

fn is_a(name: &str, extensions: &[&str]) -> bool {
    name.rsplit_once('.').is_some_and(|(_, extension)| extensions.contains(&extension))
}

/// The pages of the book, in its order.
fn pages() -> Vec<String> {
    let links = markdown::read(&text_of(SUMMARY)).links;
    links
        .into_iter()
        .map(|(target, _)| resolved(SUMMARY, &target).expect("pages are in the repository"))
        .collect()
}

/// A page as mdBook reads it, with the files that it includes.
fn expanded(page: &str) -> String {
    let text = text_of(page);
    let (mut whole, mut rest) = (String::new(), text.as_str());
    while let Some((before, after)) = rest.split_once("{{#include ") {
        let (named, behind) = after.split_once("}}").expect("an include ends");
        let (file, anchor) =
            named.split_once(':').map_or((named, None), |(file, anchor)| (file, Some(anchor)));
        let included = text_of(&resolved(page, file).expect("what is included is in the repository"));
        whole.push_str(before);
        whole.push_str(anchor.map_or(included.as_str(), |anchor| part(&included, anchor)).trim_end());
        rest = behind;
    }
    whole + rest
}

/// What stands between the lines that begin and end an anchor of mdBook's.
fn part<'a>(text: &'a str, anchor: &str) -> &'a str {
    let (_, after) =
        text.split_once(&format!("ANCHOR: {anchor}")).unwrap_or_else(|| panic!("no anchor {anchor}"));
    let (_, lines) = after.split_once('\n').expect("lines follow");
    let (inside, _) = lines.split_once(&format!("ANCHOR_END: {anchor}")).expect("an anchor ends");
    inside.rsplit_once('\n').map_or("", |(lines, _)| lines)
}

/// What is wrong with the links of a document. `look` is asked about paths and anchors inside the repository.
fn wrong(
    name: &str,
    document: &Document,
    look: impl Fn(&str, Option<&str>) -> Result<(), String>,
) -> Vec<String> {
    let undefined =
        document.undefined.iter().map(|(reference, line)| (reference, line, "is not defined".to_owned()));
    let links = document.links.iter().filter_map(|(target, line)| {
        let checked = match target.split_once("://") {
            Some(("http" | "https", rest)) => address(rest),
            Some(_) => Err("is no address that a reader can follow".to_owned()),
            None => {
                let (file, anchor) =
                    target.split_once('#').map_or((target.as_str(), None), |(f, a)| (f, Some(a)));
                let path = if file.is_empty() { Some(name.to_owned()) } else { resolved(name, file) };
                match path {
                    Some(path) if !file.starts_with('/') => look(&path, anchor),
                    _ => Err("leaves the repository".to_owned()),
                }
            }
        };
        checked.err().map(|error| (target, line, error))
    });
    undefined.chain(links).map(|(target, line, error)| format!("{name}:{line}: {target} {error}")).collect()
}

/// Whether something can be the part of a web address behind `//`. Nothing is asked for it.
fn address(rest: &str) -> Result<(), String> {
    let host = rest.split(['/', '?', '#', ':']).next().unwrap_or_default();
    let letters = host.chars().all(|c| c.is_ascii_alphanumeric() || c == '-' || c == '.');
    let labels = host.split('.').count() > 1 && host.split('.').all(|label| !label.is_empty());
    if letters && labels && !rest.contains(char::is_whitespace) {
        Ok(())
    } else {
        Err("is no web address".to_owned())
    }
}

fn heading(documents: &BTreeMap<String, Document>, path: &str, anchor: Option<&str>) -> Result<(), String> {
    match (documents.get(path), anchor) {
        (Some(document), Some(anchor)) if !document.anchors.contains(anchor) => {
            Err(format!("names no heading of {path}; there are: {:?}", document.anchors))
        }
        (None, Some(_)) => Err(format!("names a heading of {path}, which has none")),
        _ => Ok(()),
    }
}

#[test]
fn links_between_files_lead_to_files_and_headings() {
    let all: BTreeMap<String, Document> =
        documents().into_iter().map(|name| (name.clone(), markdown::read(&text_of(&name)))).collect();
    let links: usize = all.values().map(|document| document.links.len()).sum();
    assert!(all.len() > 40 && links > 150, "{} documents, {links} links", all.len());
    let look = |path: &str, anchor: Option<&str>| {
        if !root().join(path).exists() {
            return Err("does not exist".to_owned());
        }
        heading(&all, path, anchor)
    };
    let wrong: Vec<String> = all.iter().flat_map(|(name, document)| wrong(name, document, look)).collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn links_in_the_book_lead_to_its_pages_and_headings() {
    let book: BTreeMap<String, Document> =
        pages().into_iter().map(|page| (page.clone(), markdown::read(&expanded(&page)))).collect();
    // mdBook copies what is under `docs` and no Markdown.
    let look = |path: &str, anchor: Option<&str>| {
        let copied = path.starts_with("docs/") && !is_a(path, &["md"]) && root().join(path).is_file();
        if book.contains_key(path) || copied {
            return heading(&book, path, anchor);
        }
        Err("is not in the book: write a code span, or a page that includes it".to_owned())
    };
    let wrong: Vec<String> = book.iter().flat_map(|(name, document)| wrong(name, document, look)).collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn the_summary_names_every_page_once() {
    let mut named = pages();
    named.sort();
    let under_docs = |name: &String| name.starts_with("docs/") && name != SUMMARY;
    let written: Vec<String> = documents().into_iter().filter(under_docs).collect();
    assert_eq!(named, written, "pages that docs/SUMMARY.md names, and files there are");
}

#[test]
fn the_book_has_every_example() {
    let page = text_of("docs/examples.md");
    for folder in ["examples", "examples/pipelines"] {
        for entry in std::fs::read_dir(root().join(folder)).unwrap() {
            let name = entry.unwrap().file_name().into_string().unwrap();
            let included = page.contains(&format!("{{{{#include ../{folder}/{name}}}}}"));
            assert!(included || !is_a(&name, &["rs", "toml"]), "docs/examples.md lacks {folder}/{name}");
        }
    }
}

#[test]
fn a_link_that_leads_nowhere_is_found() {
    let nowhere = |_: &str, _: Option<&str>| Err("is not there".to_owned());
    let text = "[a](b.md) [c][d] [e](../../f) [g](ftp://h.org) [i](https://j) [k](https://l.org/m)";
    let found = wrong("docs/n.md", &markdown::read(text), nowhere);
    assert_eq!(found.len(), 5, "{found:?}");
    assert_eq!(resolved("docs/adr/a.md", "../b.md").as_deref(), Some("docs/b.md"));
    assert_eq!(resolved("docs/a.md", "../../b.md"), None);
    assert_eq!(part("x\n<!-- ANCHOR: p -->\ny\nz\n<!-- ANCHOR_END: p -->\n", "p"), "y\nz");
    let one = BTreeMap::from([("a.md".to_owned(), markdown::read("# B c\n"))]);
    assert!(heading(&one, "a.md", Some("b-c")).is_ok() && heading(&one, "a.md", Some("b")).is_err());
}
