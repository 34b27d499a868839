//! Programs that must not compile, and why they do not. The compiler is asked for each of them, with the libraries
//! that the test program itself was built with, so nothing is built a second time.

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde::Deserialize;

use crate::built::Built;

/// Set to `1`, what the compiler says now is written down as what it shall say.
const BLESS: &str = "LAZARET_BLESS";

/// Every `.rs` file in `folder`, which is below `crate_root`, must fail to compile, for the reasons in the `.stderr`
/// file beside it: each error's code and message, where it is, and what is said of that place.
pub fn must_not_compile(crate_root: &str, folder: &str) {
    let built = Built::of_this_program();
    let root = Path::new(crate_root);
    let mut cases: Vec<PathBuf> = fs::read_dir(root.join(folder))
        .unwrap_or_else(|error| panic!("{folder}: {error}"))
        .map(|it| it.unwrap().path())
        .filter(|it| it.extension().is_some_and(|it| it == "rs"))
        .collect();
    cases.sort();
    assert!(!cases.is_empty(), "{folder}: there is no case");
    let bless = std::env::var(BLESS).is_ok_and(|it| it == "1");
    let mut wrong = String::new();
    for case in cases {
        let source = case.strip_prefix(root).unwrap();
        let said = compile(root, source, &built);
        let file = case.with_extension("stderr");
        if said.is_empty() {
            let _ = writeln!(wrong, "{}: compiles, and must not", source.display());
        } else if bless {
            fs::write(&file, &said).unwrap();
        } else {
            let expected = fs::read_to_string(&file).unwrap_or_default();
            if said != expected {
                let _ =
                    writeln!(wrong, "{}: expected\n{expected}and it is\n{said}", source.display());
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong}If that is right, run the test with {BLESS}=1.");
}

/// What the compiler has against a program: nothing if it compiles.
fn compile(root: &Path, source: &Path, built: &Built) -> String {
    let out = tempfile::tempdir().unwrap();
    let mut command = Command::new(compiler());
    command.current_dir(root).args(["--edition=2024", "--crate-type=bin", "--emit=metadata"]);
    command.args(["--error-format=json", "--cap-lints=allow", "--crate-name=case"]);
    command.arg("--out-dir").arg(out.path());
    command.arg("-L").arg(format!("dependency={}", built.folder.display()));
    for (name, library) in &built.libraries {
        command.arg("--extern").arg(format!("{name}={}", library.display()));
    }
    let output = command.arg(source).output().unwrap();
    let text = String::from_utf8(output.stderr).unwrap();
    let said: String = text.lines().filter_map(error).collect();
    let silent = said.is_empty();
    assert_eq!(output.status.success(), silent, "{}: the compiler: {text}", source.display());
    said
}

/// The compiler of the cargo that runs the tests.
fn compiler() -> PathBuf {
    if let Some(compiler) = std::env::var_os("RUSTC") {
        return compiler.into();
    }
    let beside = std::env::var_os("CARGO").map(|it| Path::new(&it).with_file_name("rustc"));
    beside.filter(|it| it.exists()).unwrap_or_else(|| "rustc".into())
}

#[derive(Deserialize)]
struct Diagnostic {
    level: String,
    message: String,
    code: Option<Code>,
    spans: Vec<Span>,
}

#[derive(Deserialize)]
struct Code {
    code: String,
}

#[derive(Deserialize)]
struct Span {
    file_name: String,
    line_start: usize,
    column_start: usize,
    is_primary: bool,
    label: Option<String>,
}

/// An error as it is compared. Notes and advice change with the compiler and are left out, and so is the last line,
/// which counts the errors.
fn error(line: &str) -> Option<String> {
    let said: Diagnostic =
        serde_json::from_str(line).unwrap_or_else(|error| panic!("the compiler: {line}: {error}"));
    let places: Vec<&Span> = said.spans.iter().filter(|it| it.is_primary).collect();
    let counts = said.code.is_none() && places.is_empty() && said.message.starts_with("aborting");
    if said.level != "error" || counts {
        return None;
    }
    let code = said.code.map(|it| format!("[{}]", it.code)).unwrap_or_default();
    let mut text = format!("error{code}: {}\n", said.message);
    for span in places {
        let Span { file_name, line_start, column_start, label, .. } = span;
        let label = label.as_ref().map(|it| format!(" {it}")).unwrap_or_default();
        let _ = writeln!(text, " --> {file_name}:{line_start}:{column_start}{label}");
    }
    Some(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A folder with one program in it.
    fn judge(program: &str, reason: &str) {
        let root = tempfile::tempdir().unwrap();
        fs::create_dir(root.path().join("cases")).unwrap();
        fs::write(root.path().join("cases/one.rs"), program).unwrap();
        fs::write(root.path().join("cases/one.stderr"), reason).unwrap();
        must_not_compile(root.path().to_str().unwrap(), "cases");
    }

    const REASON: &str = "error[E0425]: cannot find value `x` in this scope\n \
                          --> cases/one.rs:1:13 not found in this scope\n";

    #[test]
    fn what_does_not_compile_for_its_reason_is_right() {
        judge("fn main() { x; }", REASON);
        // The libraries of this test program are there.
        judge("use serde_json as _; fn main() { x; }", &REASON.replace("1:13", "1:34"));
    }

    #[test]
    #[should_panic(expected = "cases/one.rs: compiles, and must not")]
    fn what_compiles_is_wrong() {
        judge("use serde_json::Value; fn main() { drop(Value::Null); }", REASON);
    }

    #[test]
    #[should_panic(expected = "E0433")]
    fn another_reason_is_wrong() {
        judge("use nobody::x; fn main() { nobody::x; }", &REASON.replace("1:13", "1:29"));
    }

    #[test]
    #[should_panic(expected = "there is no case")]
    fn nothing_to_compile_is_wrong() {
        let root = tempfile::tempdir().unwrap();
        must_not_compile(root.path().to_str().unwrap(), "");
    }
}
