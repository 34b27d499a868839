//! What all the rows come to: can one work here, and how? It stands first.

use sandbox::audit::Status;
use serde_json::{Value, json};

use super::row::Row;
use crate::output::Paint;

/// Can one work?
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Works {
    /// Everything that agents need.
    Yes,
    /// Calls are judged and recorded; a kind of action is refused.
    Partly,
    /// Nothing is decided, or no session is started.
    No,
}

/// The sum, with what stands in the way.
pub(super) struct Verdict {
    pub(super) works: Works,
    how: String,
    next: Vec<String>,
}

/// The rows that the verdict looks at. The surroundings are not among them: unless something is required of them, an
/// ordinary machine has none, and nothing fails by that.
pub(super) struct Looked<'a> {
    pub(super) cage: &'a [Row],
    pub(super) state: &'a [Row],
    pub(super) tools: &'a [Row],
    pub(super) required: &'a [Row],
}

impl Verdict {
    pub(super) fn of(rows: &Looked<'_>) -> Self {
        let failed = |rows: &[Row]| {
            let failed = rows.iter().filter(|it| it.status == Status::Fail);
            failed.map(Row::told).collect::<Vec<_>>()
        };
        let state = failed(rows.state);
        if !state.is_empty() {
            let how = "nothing is decided, for the state directory cannot be used".to_owned();
            return Self { works: Works::No, how, next: state };
        }
        let required = failed(rows.required);
        if !required.is_empty() {
            let how =
                "no session is started, for what is required of the surroundings is not there";
            return Self { works: Works::No, how: how.to_owned(), next: required };
        }
        let mut next = failed(rows.cage);
        let mut without = Vec::new();
        let commands = if !next.is_empty() {
            without.push("commands");
            "commands are refused: no cage can be made".to_owned()
        } else if rows.cage.iter().any(|it| it.status == Status::Unknown) {
            "this is a cage, and commands run in it".to_owned()
        } else {
            held(rows.cage)
        };
        for row in rows.tools.iter().filter(|it| it.status != Status::Pass && it.id == "browser") {
            without.push("pages in a browser");
            next.push(row.told());
        }
        let works = if without.contains(&"commands") { Works::Partly } else { Works::Yes };
        let but = match without.as_slice() {
            [] => String::new(),
            some => format!(" Without: {}.", some.join(", ")),
        };
        let how = format!("calls are judged and recorded; {commands}.{but}");
        Self { works, how, next }
    }

    /// For people: a line on whether and how, and one for each thing to do.
    pub(super) fn lines(&self, paint: &Paint) -> Vec<String> {
        let word = match self.works {
            Works::Yes => paint.good("ready"),
            Works::Partly => paint.strong("ready in part"),
            Works::No => paint.bad("not ready"),
        };
        let mut lines = vec![format!("{word}: {}", aegx::verify::printable(&self.how))];
        lines.extend(self.next.iter().map(|it| format!("  → {}", aegx::verify::printable(it))));
        lines
    }

    /// For programs.
    pub(super) fn to_json(&self) -> Value {
        let works = match self.works {
            Works::Yes => "ready",
            Works::Partly => "partly",
            Works::No => "not_ready",
        };
        json!({"how": self.how, "next": self.next, "works": works})
    }
}

/// What holds a command, and what of it is missing.
fn held(cage: &[Row]) -> String {
    let ids = |status: Status| {
        let found = cage.iter().filter(|it| it.status == status).map(|it| it.id);
        found.collect::<Vec<_>>().join(", ")
    };
    let (holds, missing) = (ids(Status::Pass), ids(Status::Weak));
    match missing.is_empty() {
        true => format!("commands run in a cage ({holds})"),
        false => format!("commands run in a cage ({holds}; without {missing})"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(id: &'static str, status: Status) -> Row {
        Row::new(id, status, format!("{id} is so"), "mend it")
    }

    fn verdict(cage: &[Row], state: &[Row], tools: &[Row], required: &[Row]) -> Verdict {
        Verdict::of(&Looked { cage, state, tools, required })
    }

    #[test]
    fn an_ordinary_machine_is_ready() {
        let cage = [row("namespaces", Status::Pass), row("cgroup", Status::Weak)];
        let found = verdict(&cage, &[row("directory", Status::Pass)], &[], &[]);
        assert_eq!(found.works, Works::Yes);
        assert!(found.how.contains("in a cage (namespaces; without cgroup)"), "{}", found.how);
        assert!(found.next.is_empty());
    }

    #[test]
    fn what_stands_in_the_way_is_said_with_what_to_do() {
        let cage = [row("cage", Status::Fail)];
        let browser = [row("browser", Status::Weak)];
        let found = verdict(&cage, &[], &browser, &[]);
        assert_eq!(found.works, Works::Partly);
        assert!(found.how.contains("commands are refused") && found.how.contains("a browser"));
        assert_eq!(found.next, ["cage: cage is so: mend it", "browser: browser is so: mend it"]);
        let state = [row("journal", Status::Fail)];
        let found = verdict(&cage, &state, &[], &[]);
        assert_eq!((found.works, found.next.len()), (Works::No, 1));
        let found = verdict(&[], &[], &[], &[row("container", Status::Fail)]);
        assert_eq!(found.works, Works::No);
        assert!(found.how.contains("required"), "{}", found.how);
    }
}
