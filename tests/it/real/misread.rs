//! Files that a server takes for something else, or does not look at: no answer about them is called whole.

use libtest_mimic::Trial;
use serde_json::json;

use crate::support::Workspace;

use super::definitions::{Row, row_of, row_trial, start};

pub(super) fn trials() -> Vec<Trial> {
    let trial = |what: &str, name: &str, test: fn(&Row)| {
        let row = row_of(name);
        row_trial(format!("real::misread::{what}"), row, test)
    };
    vec![
        trial("headers_of_c_without_flags", "clangd", headers),
        trial("modules_that_nothing_leads_to", "rust-analyzer", modules),
    ]
}

const C: &str = "//- lib.h\nint add_nums(int a, int b);\nstruct thing { int class; };\n//- lib.c\n#include \"lib.h\"\n\n\
                 int add_nums(int a, int b) { return a + b; }\n//- main.c\n#include \"lib.h\"\n\n\
                 int main(void) { return add_nums(1, add_nums(2, 3)); }\n";

fn headers(row: &Row) {
    let ws = Workspace::new(C);
    let lp = start(row, &ws);
    // Its C++ sees errors there.
    lp.diagnostics("lib.h").verdict_is("partial").contains("another language").contains("compile_flags.txt");
    lp.diagnostics("lib.c").verdict_is("fresh").contains("no problems");
    for file in ["lib.h", "lib.c"] {
        let at = json!({"file_path": file, "symbol": "add_nums"});
        lp.tool("references", &at).verdict_is("partial").contains("not among it:");
        let mut wish = at.clone();
        wish["new_name"] = json!("sum_nums");
        lp.tool("rename", &wish).fails("refused").contains("allow_partial");
    }
    let told = Workspace::new(&format!("{C}//- compile_flags.txt\n-Wall\n"));
    let lp = start(row, &told);
    lp.diagnostics("lib.h").verdict_is("fresh").contains("no problems");
    let wish = json!({"file_path": "lib.h", "symbol": "add_nums", "new_name": "sum_nums"});
    lp.tool("rename", &wish).verdict_is("fresh").contains("4 places in 3 files");
}

fn modules(row: &Row) {
    let ws = Workspace::new(
        "//- Cargo.toml\n[package]\nname = \"one\"\nversion = \"0.1.0\"\nedition = \"2021\"\n//- src/lib.rs\npub mod known;\n\
         //- src/known.rs\npub fn g() -> u32 { 1 }\n//- src/other.rs\npub fn g() -> u32 { \"x\" }\n",
    );
    let lp = start(row, &ws);
    lp.diagnostics("src/known.rs").verdict_is("fresh").contains("no problems");
    lp.diagnostics("src/other.rs").verdict_is("partial").contains("no part of what it looks at");
}
