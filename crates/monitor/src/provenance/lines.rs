//! Text without brackets: `Key: value` lines, tables, lists of names; what is left is prose.

use super::structure::{Field, Row, Shape, field, is_short};

/// The longest key of a `Key: value` line, in bytes.
const KEY_BYTES_MAX: usize = 40;

/// Reads `text` line by line.
pub(super) fn read(text: &str) -> Vec<Row> {
    if let Some(rows) = table(text) {
        return rows;
    }
    let lines: Vec<&str> = text.lines().map(str::trim).filter(|it| !it.is_empty()).collect();
    let short = |line: &str| is_short(line) && !line.ends_with(['.', ',', ':', ';']);
    let keyed = |line: &str| {
        line.split_once(": ").is_some_and(|(key, value)| key.len() <= KEY_BYTES_MAX && short(value))
    };
    let plain = lines.iter().filter(|line| keyed(line) || short(line)).count();
    // A listing is short throughout; a text that has a short line here and there is a text.
    if lines.is_empty() || plain < lines.len() {
        return vec![Row { fields: vec![prose(text)] }];
    }
    let fields = lines.iter().flat_map(|line| match line.split_once(": ") {
        Some((key, value)) => vec![field(&key_name(key), value.trim())],
        None => vec![field("", line.trim_start_matches(['-', '*', '•', ' ']))],
    });
    vec![Row { fields: fields.collect() }]
}

fn prose(text: &str) -> Field {
    Field { key: String::new(), text: text.to_owned(), shape: Shape::Text }
}

fn key_name(key: &str) -> String {
    key.trim_start_matches(['-', '*', '•', ' ']).to_lowercase().replace(' ', "_")
}

/// A table with a head and the same number of cells in each line.
fn table(text: &str) -> Option<Vec<Row>> {
    let lines: Vec<&str> = text.lines().filter(|it| !it.trim().is_empty()).collect();
    let separator = ['|', '\t', ','].into_iter().find(|it| {
        let cells = lines.first().map_or(0, |line| line.matches(*it).count());
        cells >= 1
            && lines.len() >= 2
            && lines.iter().all(|line| line.matches(*it).count() == cells)
    })?;
    let mut lines = lines.into_iter();
    let head: Vec<String> = cells(lines.next()?, separator).map(key_name).collect();
    if head.iter().any(|it| it.split('_').count() > 3) {
        return None;
    }
    let rows = lines.filter(|it| it.chars().any(char::is_alphanumeric)).map(|line| {
        let pairs = cells(line, separator).zip(&head).filter(|(cell, _)| !cell.is_empty());
        Row { fields: pairs.map(|(cell, key)| field(key, cell)).collect() }
    });
    Some(rows.collect())
}

fn cells(line: &str, separator: char) -> impl Iterator<Item = &str> {
    let line = if separator == '|' { line.trim().trim_matches('|') } else { line };
    line.split(separator).map(|it| it.trim().trim_matches('"'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_told_from_prose() {
        let rows = read("Hotels in Paris: City Hub\nLe Marais Boutique\nGood Night");
        assert_eq!(rows[0].fields.len(), 3);
        assert!(!rows[0].has_prose());
        assert!(
            read("Dear tenant,\nthe rent will be increased by 100.00. Please adjust it.\n")[0]
                .has_prose()
        );
        assert!(!read("2024-05-15")[0].has_prose());
    }

    #[test]
    fn tables_have_rows() {
        let rows = read("name,email\nAda,ada@x.com\nBob,bob@x.com\n");
        assert_eq!(rows.len(), 2);
        assert_eq!(rows[1].fields[1].text, "bob@x.com");
        assert_eq!(read("| name | id |\n|---|---|\n| a | 1 |\n").len(), 1);
    }
}
