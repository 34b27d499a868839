//! INVARIANT (SecretsDoNotPrint), as far as the compiler keeps it: every file in `tests/secret/` must fail to
//! compile, for the reason in its `.stderr` file.

#[test]
fn what_must_not_compile_does_not() {
    testkit::must_not_compile(env!("CARGO_MANIFEST_DIR"), "tests/secret");
}
