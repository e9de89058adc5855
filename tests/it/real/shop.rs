//! Every reading tool on the example project: what pyright, ty and ruff know of it.

use serde_json::{Value, json};

use crate::support::{Answer, Langport};

use super::{body_is, needs, places_are, servers, servers::Need, start, tree_is};

needs! {
    [Pyright] => pyright_on_files, pyright_on_the_project;
    [Ty] => ty_on_files, ty_on_the_project;
    [Ruff] => ruff_only_reports_problems;
}

const CART: &str = "shop/cart.py";
const CATALOGUE: &str = "shop/catalogue.py";
const CHECKOUT: &str = "shop/checkout.py";
const DISCOUNTS: &str = "shop/discounts.py";
const GREETINGS: &str = "shop/greetings.py";
const CLEAN: [&str; 7] =
    ["shop/__init__.py", "shop/__main__.py", CART, CATALOGUE, DISCOUNTS, GREETINGS, "shop/money.py"];
const ALL_13_PRODUCTS: [&str; 13] = [
    "shop/catalogue.py:16:7",
    "shop/catalogue.py:29:12",
    "shop/catalogue.py:39:16",
    "shop/catalogue.py:49:43",
    "shop/catalogue.py:52:36",
    "shop/catalogue.py:62:50",
    "shop/catalogue.py:67:36",
    "shop/catalogue.py:75:13",
    "shop/catalogue.py:76:13",
    "shop/cart.py:7:24",
    "shop/cart.py:15:14",
    "shop/cart.py:28:28",
    "shop/cart.py:40:31",
];

fn spot(file: &str, line: usize, column: usize) -> Value {
    json!({"file_path": file, "line": line, "column": column})
}

fn named(file: &str, line: usize, symbol: &str) -> Value {
    json!({"file_path": file, "line": line, "symbol": symbol})
}

/// `lsp_definition` of a name on a line.
#[track_caller]
fn leads(lp: &Langport, kind: &str, file: &str, line: usize, symbol: &str) -> Answer {
    lp.tool("definition", &json!({"file_path": file, "line": line, "symbol": symbol, "kind": kind}))
}

/// What both type checkers say alike.
fn problems(lp: &Langport, server: &str) {
    let answer = lp.diagnostics(CHECKOUT);
    answer.says(&format!("fresh · {server} · 1 error")).contains("  cart.add(catalogue.find(\"MUG-01\"), \"1\")");
    assert_eq!(answer.places()[0], (CHECKOUT.to_owned(), 46, 40), "{answer}");
    for file in CLEAN {
        lp.diagnostics(file).says(&format!("fresh · {server} · no problems"));
    }
}

fn definitions(lp: &Langport, server: &str) {
    for kind in ["definition", "declaration"] {
        let one = format!("fresh · {server} · 1 {kind}");
        let method = leads(lp, kind, CHECKOUT, 46, "add");
        places_are(method.says(&one), &["shop/cart.py:28:9"]);
        method.contains("  def add(self, product: Product, count: int = 1) -> Line:");
        places_are(leads(lp, kind, CHECKOUT, 39, "best").says(&one), &["shop/discounts.py:42:5"]);
        places_are(leads(lp, kind, CHECKOUT, 9, "Discount").says(&one), &["shop/discounts.py:13:7"]);
        places_are(leads(lp, kind, CHECKOUT, 34, "cart").says(&one), &["shop/checkout.py:32:24"]);
        // The discount of an order, behind an emoji.
        places_are(leads(lp, kind, GREETINGS, 25, "discount").says(&one), &["shop/checkout.py:19:5"]);
    }
    let class = leads(lp, "type_definition", CHECKOUT, 34, "cart");
    places_are(class.says(&format!("fresh · {server} · 1 type definition")), &["shop/cart.py:22:7"]);
    places_are(&leads(lp, "type_definition", GREETINGS, 25, "order"), &["shop/checkout.py:14:7"]);
    // A space and a keyword are no names.
    lp.tool("definition", &spot(CHECKOUT, 47, 5)).contains("no definition").contains("names at columns");
}

fn references(lp: &Langport, server: &str) {
    let total = lp.tool("references", &json!({"file_path": CART, "symbol": "Cart/total"}));
    places_are(
        total.says(&format!("fresh · {server} · 3 references in 3 files")),
        &["shop/cart.py:44:9", "shop/checkout.py:39:28", "shop/discounts.py:28:21"],
    );
    total
        .contains("44:9 definition  def total(self) -> Money:")
        .contains("28:21  return cart.total().percent(self.rate)");
    let uses = json!({"file_path": CART, "symbol": "Cart/total", "include_declaration": false});
    places_are(&lp.tool("references", &uses), &["shop/checkout.py:39:28", "shop/discounts.py:28:21"]);
    let product = lp.tool("references", &named(CATALOGUE, 16, "Product"));
    places_are(product.says(&format!("fresh · {server} · 13 references in 2 files")), &ALL_13_PRODUCTS);
    let unicode = lp.tool("references", &json!({"symbol": "挨拶"}));
    places_are(
        unicode.says(&format!("fresh · {server} · 2 references in 1 file")),
        &["shop/greetings.py:15:5", "shop/greetings.py:22:18"],
    );
}

fn signatures(lp: &Langport, server: &str) {
    let second = lp.tool("signature", &spot(CHECKOUT, 46, 40));
    second.says(&format!("fresh · {server} · 1 signature"));
    second.contains("(product: Product, «count: int = 1») -> Line").contains("Puts a product in");
    lp.tool("signature", &spot("shop/__main__.py", 17, 34)).contains("(«customer: str», cart: Cart) -> Order");
    lp.tool("signature", &spot("shop/__main__.py", 17, 43)).contains("(customer: str, «cart: Cart») -> Order");
}

fn callers(lp: &Langport, server: &str) {
    let total = lp.tool("calls", &json!({"file_path": CART, "symbol": "Cart/total", "depth": 2}));
    tree_is(
        total.says(&format!("fresh · {server} · 4 callers")),
        &[
            "total shop/cart.py:44:9",
            "total/off shop/discounts.py:27:9 at 28",
            "total/order shop/checkout.py:36:9 at 39",
            "total/order/gift shop/checkout.py:43:5 at 47",
            "total/order/main shop/__main__.py:11:5 at 17",
        ],
    );
    let direct = lp.tool("calls", &json!({"file_path": DISCOUNTS, "symbol": "best"}));
    tree_is(&direct, &["best shop/discounts.py:42:5", "best/order shop/checkout.py:36:9 at 39"]);
}

/// The outgoing calls of `gift` two deep, all that lead into the standard library left out.
fn callees(lp: &Langport, server: &str) {
    let gift = lp.tool("calls", &json!({"file_path": CHECKOUT, "symbol": "gift", "direction": "outgoing", "depth": 2}));
    gift.verdict_is("fresh").contains(&format!(" · {server} · "));
    let own: Vec<String> = super::tree(&gift).into_iter().filter(|line| line.contains(" shop/")).collect();
    let expected = [
        "gift shop/checkout.py:43:5",
        "gift/Cart shop/cart.py:22:7 at 45",
        "gift/Checkout shop/checkout.py:27:7 at 47",
        "gift/add shop/cart.py:28:9 at 46",
        "gift/add/Line shop/cart.py:12:7 at 36",
        "gift/find shop/catalogue.py:52:9 at 46",
        "gift/find/UnknownProduct shop/catalogue.py:11:7 at 60",
        "gift/order shop/checkout.py:36:9 at 47",
        "gift/order/Order shop/checkout.py:14:7 at 38",
        "gift/order/best shop/discounts.py:42:5 at 39",
        "gift/order/shipping shop/checkout.py:32:9 at 39",
        "gift/order/total shop/cart.py:44:9 at 39",
    ];
    assert_eq!(own, expected, "in the answer\n{gift}");
    let library = super::tree(&gift);
    for line in ["gift/add/ValueError builtins.pyi at 31", "gift/add/append builtins.pyi at 37"] {
        assert!(library.iter().any(|own| own == line), "{line} expected in\n{gift}");
    }
}

fn status(lp: &Langport, server: &str) {
    let answer = lp.tool("status", &json!({}));
    answer.verdict_is("fresh").contains(" definitions, 1 running").contains(&format!("builtin/{server}  running"));
    for other in ["pyright", "ty", "ruff"].iter().filter(|&&other| other != server) {
        // Not started, or not installed yet.
        answer.contains(other).lacks(&format!("builtin/{other} "));
    }
    lp.tool("status", &json!({"file_path": CART}))
        .contains("shop/cart.py: language python")
        .contains(&format!("{server} "));
}

fn pyright_on_files() {
    let ws = servers::shop();
    let lp = start(&ws, &[Need::Pyright]);
    problems(&lp, "pyright");
    let problem = lp.diagnostics(CHECKOUT);
    problem.contains("\"Literal['1']\" is not assignable to \"int\"").contains("reportArgumentType");
    let hover = lp.hover(&named(CHECKOUT, 46, "add"));
    hover
        .says("fresh · pyright · hover")
        .contains("(method) def add(\n")
        .contains("count: int = 1")
        .contains("Puts a product in");
    lp.hover(&spot(GREETINGS, 22, 18))
        .contains("(function) def 挨拶(language: str) -> str")
        .contains("English where there is none.");
    lp.hover(&spot(GREETINGS, 25, 27)).contains("(variable) discount: Money");
    definitions(&lp, "pyright");
    leads(&lp, "implementation", DISCOUNTS, 44, "off")
        .fails("unsupported")
        .contains("pyright")
        .contains("implementations");
    signatures(&lp, "pyright");
    // The outer call's, as pyright counts an argument from the blank before it.
    lp.tool("signature", &spot(CHECKOUT, 39, 23))
        .contains("(customer: str, «goods: Money», discount: Money, shipping: Money) -> Order");
    let members = lp.tool("completions", &spot(CHECKOUT, 46, 10));
    for member in ["  add  method", "  remove  method", "  total  method", "  lines  variable"] {
        members.fine().contains(member);
    }
    lp.tool("completions", &spot(CHECKOUT, 46, 13)).contains(" 1 completion").contains("  add  method");
    let outline = lp.tool("symbols", &json!({"file_path": DISCOUNTS}));
    body_is(
        outline.says("fresh · pyright · 11 of 15 symbols"),
        "13 class Discount\n  17 method off  (+1 inside)\n22 class Percent\n  25 variable rate\n  27 method off  (+1 inside)\n32 class BookWeek\n  35 variable each\n  37 method off  (+2 inside)\n42 function best\n  42 variable discounts\n  42 variable cart",
    );
    let deep = lp.tool("symbols", &json!({"file_path": DISCOUNTS, "depth": 3, "query": "books"}));
    deep.contains("1 of 15 symbols").contains("38 variable books");
    status(&lp, "pyright");
}

fn pyright_on_the_project() {
    let ws = servers::shop();
    let lp = start(&ws, &[Need::Pyright]);
    references(&lp, "pyright");
    // An import counts as a use.
    let best = json!({"file_path": DISCOUNTS, "symbol": "best", "include_declaration": false});
    places_are(&lp.tool("references", &best), &["shop/checkout.py:9:34", "shop/checkout.py:39:37"]);
    let found = lp.tool("workspace_symbols", &json!({"query": "shipping"}));
    found.says("fresh · pyright · 5 symbols").contains("shop/catalogue.py:34:9  method shipping  in Book");
    let shipping = [
        "shop/catalogue.py:23:9",
        "shop/catalogue.py:34:9",
        "shop/catalogue.py:42:9",
        "shop/checkout.py:20:5",
        "shop/checkout.py:32:9",
    ];
    places_are(&found, &shipping);
    let exact = lp.tool("workspace_symbols", &json!({"query": "Cart"}));
    exact.says("fresh · pyright · 10 symbols");
    assert_eq!(exact.places()[0], (CART.to_owned(), 22, 7), "the class before the variables `cart`: {exact}");
    places_are(&lp.tool("workspace_symbols", &json!({"query": "Cart", "kind": "class"})), &["shop/cart.py:22:7"]);
    places_are(&lp.tool("workspace_symbols", &json!({"query": "挨拶"})), &["shop/greetings.py:15:5"]);
    callers(&lp, "pyright");
    callees(&lp, "pyright");
    for direction in ["supertypes", "subtypes"] {
        let types = lp.tool("types", &json!({"file_path": CATALOGUE, "symbol": "Book", "direction": direction}));
        types.fails("unsupported").contains("pyright").contains("type_hierarchy");
    }
}

fn ty_on_files() {
    let ws = servers::shop();
    let lp = start(&ws, &[Need::Ty]);
    problems(&lp, "ty");
    let problem = lp.diagnostics(CHECKOUT);
    problem
        .contains("Expected `int`, found `Literal[\"1\"]`")
        .contains("invalid-argument-type")
        .contains("shop/cart.py:28:37  Parameter declared here");
    let hover = lp.hover(&named(CHECKOUT, 46, "add"));
    hover
        .says("fresh · ty · hover")
        .contains("bound method Cart.add(\n")
        .contains("count: int = 1")
        .contains("Puts a product in");
    lp.hover(&spot(GREETINGS, 22, 18))
        .contains("def 挨拶(language: str) -> str")
        .contains("English where there is none.");
    let behind = lp.hover(&spot(GREETINGS, 25, 27));
    assert_eq!(behind.body().lines().nth(1), Some("  Money"), "{behind}");
    definitions(&lp, "ty");
    let overridden = leads(&lp, "implementation", DISCOUNTS, 44, "off");
    places_are(
        overridden.says("fresh · ty · 3 implementations"),
        &["shop/discounts.py:17:9", "shop/discounts.py:27:9", "shop/discounts.py:37:9"],
    );
    let sent = leads(&lp, "implementation", CHECKOUT, 34, "shipping");
    places_are(&sent, &["shop/catalogue.py:23:9", "shop/catalogue.py:34:9", "shop/catalogue.py:42:9"]);
    signatures(&lp, "ty");
    lp.tool("completions", &spot(CHECKOUT, 46, 13))
        .contains(" 1 completion")
        .contains("add  method  bound method Cart.add(");
    let outline = lp.tool("symbols", &json!({"file_path": DISCOUNTS}));
    body_is(
        outline.says("fresh · ty · 9 symbols"),
        "13 class Discount\n  17 method off\n22 class Percent\n  25 field rate\n  27 method off\n32 class BookWeek\n  35 field each\n  37 method off\n42 function best",
    );
    status(&lp, "ty");
}

fn ty_on_the_project() {
    let ws = servers::shop();
    let lp = start(&ws, &[Need::Ty]);
    references(&lp, "ty");
    // An import goes with the declaration.
    let best = json!({"file_path": DISCOUNTS, "symbol": "best", "include_declaration": false});
    places_are(&lp.tool("references", &best), &["shop/checkout.py:39:37"]);
    let found = lp.tool("workspace_symbols", &json!({"query": "shipping"}));
    let shipping = [
        "shop/catalogue.py:23:9",
        "shop/catalogue.py:34:9",
        "shop/catalogue.py:42:9",
        "shop/checkout.py:20:5",
        "shop/checkout.py:32:9",
    ];
    places_are(found.says("fresh · ty · 5 symbols"), &shipping);
    places_are(&lp.tool("workspace_symbols", &json!({"query": "Cart", "kind": "class"})), &["shop/cart.py:22:7"]);
    places_are(&lp.tool("workspace_symbols", &json!({"query": "挨拶"})), &["shop/greetings.py:15:5"]);
    callers(&lp, "ty");
    callees(&lp, "ty");
    let above = lp.tool("types", &json!({"file_path": CATALOGUE, "symbol": "Book", "depth": 2}));
    tree_is(
        above.says("fresh · ty · 2 supertypes"),
        &["Book shop/catalogue.py:29:7", "Book/Product shop/catalogue.py:16:7", "Book/Product/object builtins.pyi"],
    );
    let below =
        lp.tool("types", &json!({"file_path": DISCOUNTS, "symbol": "Discount", "direction": "subtypes", "depth": 2}));
    tree_is(
        below.says("fresh · ty · 2 subtypes"),
        &[
            "Discount shop/discounts.py:13:7",
            "Discount/BookWeek shop/discounts.py:32:7",
            "Discount/Percent shop/discounts.py:22:7",
        ],
    );
}

fn ruff_only_reports_problems() {
    let ws = servers::shop();
    let lp = start(&ws, &[Need::Ruff]);
    for file in CLEAN.iter().chain(&[CHECKOUT]) {
        lp.diagnostics(file).says("fresh · ruff · no problems");
    }
    ws.write(
        "shop/report.py",
        "\"\"\"Reports.\"\"\"\n\nimport os\n\n\ndef report() -> str:\n    return f\"🧾 {missing}\"\n",
    );
    let answer = lp.diagnostics("shop/report.py");
    places_are(answer.says("fresh · ruff · 1 error, 1 warning"), &["shop/report.py:3:8", "shop/report.py:7:17"]);
    answer.contains("Undefined name `missing`").contains("F821").contains("`os` imported but unused").contains("F401");
    let at = spot(CHECKOUT, 46, 10);
    for tool in ["hover", "definition", "references", "completions", "signature", "calls", "types"] {
        lp.tool(tool, &at).fails("unsupported").contains("ruff");
    }
    for kind in ["declaration", "type_definition", "implementation"] {
        leads(&lp, kind, CHECKOUT, 46, "add").fails("unsupported").contains("ruff");
    }
    lp.tool("symbols", &json!({"file_path": CART})).fails("unsupported").contains("ruff");
    lp.tool("workspace_symbols", &json!({"query": "Cart"})).fails("unsupported").contains("ruff");
    status(&lp, "ruff");
}
