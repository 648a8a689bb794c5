//! The book as mdBook has built it: `bash .ci/book.sh` builds it and runs this.

use std::collections::{BTreeMap, HashSet};
use std::path::{Component, Path, PathBuf};

use crate::markdown::root;

/// Values of an attribute in the tags of a page. Text holds no tags: mdBook writes `&lt;` there.
fn values<'a>(html: &'a str, attribute: &str) -> Vec<&'a str> {
    let before = format!(" {attribute}=\"");
    let tags = html.split('<').skip(1).filter_map(|rest| rest.split('>').next());
    tags.filter_map(|tag| tag.split_once(&before)?.1.split('"').next()).collect()
}

fn pages(folder: &Path, found: &mut BTreeMap<PathBuf, String>) {
    for entry in std::fs::read_dir(folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display())) {
        let path = entry.unwrap().path();
        if path.is_dir() {
            pages(&path, found);
        } else if path.extension().is_some_and(|extension| extension == "html") {
            let text = std::fs::read_to_string(&path).unwrap();
            found.insert(path, text);
        }
    }
}

/// A path without `..`, as a browser asks for it.
fn plain(path: &Path) -> PathBuf {
    let mut parts = PathBuf::new();
    for part in path.components() {
        if part == Component::ParentDir {
            parts.pop();
        } else {
            parts.push(part);
        }
    }
    parts
}

#[test]
#[ignore = "needs a built book: bash .ci/book.sh builds one and runs this"]
fn every_link_of_the_built_book_leads_to_a_file_and_an_id() {
    let book = root().canonicalize().unwrap().join("target/book");
    let mut all = BTreeMap::new();
    pages(&book, &mut all);
    let ids: BTreeMap<&PathBuf, HashSet<&str>> =
        all.iter().map(|(path, html)| (path, values(html, "id").into_iter().collect())).collect();
    let (mut links, mut wrong) = (0, Vec::new());
    for (page, html) in &all {
        // A page for any address that does not exist says from where its links count.
        let base = if html.contains("<base href=\"/\">") { &book } else { page.parent().unwrap() };
        for target in ["href", "src"].into_iter().flat_map(|attribute| values(html, attribute)) {
            if target.contains("://") || target.starts_with("data:") || target == "/" {
                continue;
            }
            links += 1;
            let (file, anchor) = target.split_once('#').unwrap_or((target, ""));
            let path = if file.is_empty() { page.clone() } else { plain(&base.join(file)) };
            let is_there = path.starts_with(&book) && path.is_file();
            if !is_there || !(anchor.is_empty() || ids.get(&path).is_some_and(|ids| ids.contains(anchor))) {
                wrong.push(format!("{}: {target}", page.strip_prefix(&book).unwrap().display()));
            }
        }
    }
    assert!(all.len() > 40 && links > 1000, "{} pages, {links} links", all.len());
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
