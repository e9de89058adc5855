//! The example project in all its languages, without any configuration: the deliberate error of each is found by the
//! server that serves by default, what it calls in another file is known, and once it is mended nothing is wrong.

use libtest_mimic::Trial;
use serde_json::{Value, json};

use crate::support::{Langport, Workspace};

use super::{
    definitions::{Machine, needing, put_in_place},
    places_are, rows_native, rust, servers,
};

/// One language of the shop.
#[derive(Debug, Clone, Copy)]
struct Part {
    language: &'static str,
    /// The definitions that serve it by default, to be installed.
    servers: &'static [&'static str],
    /// Programs that have to be on PATH.
    needs: &'static [&'static str],
    env: &'static [(&'static str, &'static str)],
    machine: Option<Machine>,
    /// The servers as answers name them.
    shown: &'static str,
    file: &'static str,
    /// The error: where, and words of it.
    place: (usize, usize),
    words: &'static str,
    /// What to replace, and by what.
    mend: (&'static str, &'static str),
    /// A name near the error and its line, words of its hover, and where it is defined, in another file.
    across: Option<(usize, &'static str, &'static str, &'static str)>,
    /// Other files of the language.
    clean: &'static [&'static str],
}

const PART: Part = Part {
    language: "",
    servers: &[],
    needs: &[],
    env: &[],
    machine: None,
    shown: "",
    file: "",
    place: (0, 0),
    words: "",
    mend: ("", ""),
    across: None,
    clean: &[],
};

const PARTS: [Part; 10] = [
    Part {
        language: "Python",
        servers: &["pyright", "ruff"],
        needs: &["npm", "node", "python3"],
        shown: "pyright, ruff",
        file: "shop/checkout.py",
        place: (46, 40),
        words: "is not assignable to \"int\"",
        mend: ("\"1\")", "1)"),
        across: Some((46, "add", "Puts a product in", "shop/cart.py:28:9")),
        clean: &["shop/cart.py", "shop/money.py"],
        ..PART
    },
    Part {
        language: "TypeScript",
        servers: &["typescript7"],
        needs: &["npm", "node"],
        shown: "typescript7",
        file: "web/src/page.ts",
        place: (14, 17),
        words: "Argument of type 'string' is not assignable to parameter of type 'number'",
        mend: ("\"2\"", "2"),
        across: Some((14, "add", "Puts a product in", "web/src/cart.ts:20:3")),
        clean: &["web/src/cart.ts", "web/src/money.ts"],
        ..PART
    },
    Part {
        language: "CSS",
        servers: &["css"],
        needs: &["npm", "node"],
        shown: "css",
        file: "web/shop.css",
        place: (18, 14),
        words: "colon expected",
        mend: ("text-align right", "text-align: right"),
        ..PART
    },
    Part {
        language: "Go",
        servers: &["gopls"],
        needs: &["go"],
        env: rows_native::GO_ENV,
        shown: "gopls",
        file: "orders/book.go",
        place: (26, 39),
        words: "cannot use \"1\"",
        mend: ("\"1\"", "1"),
        across: Some((26, "Item", "Item is a product", "orders/order.go:7:6")),
        clean: &["orders/order.go", "orders/price/price.go", "orders/go.mod"],
        ..PART
    },
    Part {
        language: "C++",
        servers: &["clangd"],
        needs: &["python3"],
        shown: "clangd",
        file: "labels/src/label.cpp",
        place: (6, 23),
        words: "Cannot initialize a member subobject of type 'long'",
        mend: ("\"950\"", "950"),
        across: Some((5, "Label", "What is glued onto a product", "labels/include/label.hpp:8:8")),
        clean: &["labels/src/barcode.cpp", "labels/include/barcode.hpp", "labels/include/label.hpp"],
        ..PART
    },
    Part {
        language: "Rust",
        needs: &["cargo"],
        machine: Some(rust::machine),
        shown: "rust-analyzer (without cargo check)",
        file: "warehouse/src/lib.rs",
        place: (21, 44),
        words: "expected u32, found &'static str",
        mend: ("\"1\"", "1"),
        across: Some((21, "take", "Takes some off", "warehouse/src/shelf.rs:20:12")),
        clean: &["warehouse/src/shelf.rs"],
        ..PART
    },
    Part {
        language: "shell",
        servers: &["bash"],
        needs: &["npm", "node", "python3"],
        shown: "bash",
        file: "scripts/restock.sh",
        place: (8, 15),
        words: "Double quote array expansions",
        mend: ("in $@", "in \"$@\""),
        clean: &["scripts/common.sh"],
        ..PART
    },
    Part {
        language: "YAML",
        servers: &["yaml"],
        needs: &["npm", "node"],
        shown: "yaml",
        file: "deploy/shop.yaml",
        place: (10, 1),
        words: "Map keys must be unique",
        mend: ("replicas: 3\n", ""),
        ..PART
    },
    Part {
        language: "JSON",
        servers: &["json"],
        needs: &["npm", "node"],
        shown: "json",
        file: "data/prices.json",
        place: (6, 64),
        words: "Trailing comma",
        mend: ("1890 },", "1890 }"),
        clean: &["web/package.json", "web/tsconfig.json"],
        ..PART
    },
    Part {
        language: "Markdown",
        servers: &["rumdl"],
        needs: &["python3"],
        shown: "rumdl",
        file: "docs/delivery.md",
        place: (6, 41),
        words: "Link fragment 'deadline' not found",
        mend: ("#deadline", "#how-long"),
        clean: &["docs/returns.md", "README.md"],
        ..PART
    },
];

pub(super) fn trials() -> Vec<Trial> {
    let name = |name: &str| format!("real::shop_languages::{name}");
    let mut trials: Vec<Trial> = PARTS
        .iter()
        .map(|part| {
            let title = part.language.to_lowercase().replace("++", "pp");
            needing(name(&title), part.needs, part.machine, || whole(&[part]))
        })
        .collect();
    let all: Vec<&Part> = PARTS.iter().collect();
    let title = name("a1_2_one_langport_serves_every_language_unconfigured");
    trials.push(needing(title, &["npm", "node", "python3", "go", "cargo"], Some(rust::machine), move || whole(&all)));
    let title = name("d2_9_typescript_needs_nothing_in_the_project");
    trials.push(needing(title, &["npm", "node"], None, d2_9_typescript));
    trials.push(crate::trial("it::real::shop_languages::the_readme_of_the_shop_names_each_error", readme));
    trials
}

/// langport as a person starts it: what is installed serves.
fn start(ws: &Workspace, parts: &[&Part]) -> Langport {
    let data = servers::folder().to_string_lossy().into_owned();
    let mut builder = super::builder(ws, &[]);
    for part in parts {
        part.servers.iter().for_each(|server| put_in_place(server));
        for (name, value) in part.env {
            builder = builder.env(name, &value.replace("${target}", &data));
        }
        for (name, value) in part.machine.map(|machine| machine().expect("a machine")).unwrap_or_default() {
            builder = builder.env(name, &value);
        }
    }
    builder.start()
}

fn whole(parts: &[&Part]) {
    let ws = servers::shop();
    let lp = start(&ws, parts);
    for part in parts {
        wrong(&lp, part);
        across(&lp, part);
        for file in part.clean {
            let answer = lp.diagnostics(file);
            answer.verdict_is("fresh").contains("no problems");
        }
    }
    for part in parts {
        let text = ws.read(part.file);
        assert_eq!(text.matches(part.mend.0).count(), 1, "{} in {}", part.mend.0, part.file);
        ws.write(part.file, &text.replace(part.mend.0, part.mend.1));
        lp.diagnostics(part.file).says(&format!("fresh · {} · no problems", part.shown));
    }
}

/// Exactly the one deliberate error.
fn wrong(lp: &Langport, part: &Part) {
    let answer = lp.diagnostics(part.file);
    answer.says(&format!("fresh · {} · 1 error", part.shown)).contains(part.words);
    let places = answer.places();
    assert_eq!(places[0], (part.file.to_owned(), part.place.0, part.place.1), "{answer}");
}

/// A name beside the error leads into another file.
fn across(lp: &Langport, part: &Part) {
    let Some((line, symbol, hover, definition)) = part.across else { return };
    let at: Value = json!({"file_path": part.file, "line": line, "symbol": symbol});
    lp.hover(&at).verdict_is("fresh").contains(hover);
    places_are(lp.tool("definition", &at).verdict_is("fresh"), &[definition]);
}

/// No `node_modules` anywhere, no TypeScript of the project's own: langport's serves, and the doctor says which.
fn d2_9_typescript() {
    put_in_place("typescript7");
    let ws = servers::shop();
    assert!(!ws.path("web/node_modules").exists());
    let lp = super::builder(&ws, &[]).start();
    lp.diagnostics("web/src/page.ts").says("fresh · typescript7 · 1 error");
    let home = ws.home();
    let mut doctor = std::process::Command::new(env!("CARGO_BIN_EXE_langport"));
    doctor.arg("doctor").arg(ws.path("web/src")).env("LANGPORT_DATA_DIR", servers::folder());
    doctor.env("LANGPORT_CONFIG_DIR", home.join("config")).env("LANGPORT_STATE_DIR", home.join("state"));
    let output = doctor.output().expect("the doctor");
    let text = String::from_utf8_lossy(&output.stdout);
    let said = "builtin/typescript7 (typescript): works, started in ";
    assert!(output.status.success() && text.contains(said), "{text}{}", String::from_utf8_lossy(&output.stderr));
    assert!(text.contains("installed by langport"), "{text}");
}

fn readme() {
    let readme = servers::shop().read("README.md");
    for part in PARTS {
        let row = format!("| {} | `{}`, line {} |", part.language, part.file, part.place.0);
        assert!(readme.contains(&row), "{row} in\n{readme}");
    }
}
