//! A person's consent to a plan, over both eras of the protocol: asked for once, for that very plan; whatever is not a
//! plain yes changes nothing.

use serde_json::{Value, json};

use crate::{
    fake::script::Script,
    support::{Answer, Definition, Era, Langport, Workspace, eventually},
};

trials![
    legacy_a_yes_makes_the_plan,
    legacy_b22_anything_else_does_not,
    legacy_nobody_answers,
    modern_a_yes_makes_the_plan_once,
    modern_b22_anything_else_does_not,
    a_client_that_cannot_ask_changes_nothing,
    without_the_setting_nobody_is_asked,
];

const FIXTURE: &str = "//- a.py\ntally = 1\n";

fn start(ws: &Workspace, era: Era, able: bool) -> Langport {
    let builder = Langport::builder(ws).server(Definition::new("fake", Script::new())).config("confirm = \"elicit\"");
    let lp = builder.era(era).silent().start();
    lp.capable(if able { json!({"elicitation": {"form": {}}}) } else { json!({}) });
    lp.greet();
    lp
}

fn plan(lp: &Langport) -> String {
    lp.tool("rename", &json!({"file_path": "a.py", "line": 1, "column": 1, "new_name": "total"})).plan()
}

/// Applies a plan with a client of the older era that answers each question so.
fn answered(lp: &Langport, plan: &str, answers: &[Value]) -> (Answer, Vec<Value>) {
    let call = lp.call("lsp_apply", &json!({"plan": plan}));
    let mut asked = Vec::new();
    for answer in answers {
        let question = eventually("a question", || {
            let all = lp.notes("elicitation/create");
            all.get(asked.len()).cloned()
        });
        lp.raw(&json!({"jsonrpc": "2.0", "id": question["id"], "result": answer}).to_string());
        asked.push(question["params"].clone());
    }
    (Answer::of(&lp.answer(call)), asked)
}

const LEGACY: Era = Era::Legacy("2025-06-18");

fn yes() -> Value {
    json!({"action": "accept", "content": {"apply": true}})
}

fn legacy_a_yes_makes_the_plan() {
    let ws = Workspace::new(FIXTURE);
    let lp = start(&ws, LEGACY, true);
    let plan = plan(&lp);
    let (made, asked) = answered(&lp, &plan, &[yes()]);
    made.fine().contains("1 file changed");
    assert_eq!(ws.read("a.py"), "total = 1\n");
    let message = asked[0]["message"].as_str().unwrap();
    assert!(message.contains(&plan) && message.contains("a.py") && message.contains("rename to total"), "{message}");
    assert_eq!(asked[0]["requestedSchema"]["required"], json!(["apply"]));
    // Taking it back asks once more.
    let call = lp.call("lsp_apply", &json!({"undo": plan}));
    let question = eventually("a second question", || lp.notes("elicitation/create").get(1).cloned());
    lp.raw(&json!({"jsonrpc": "2.0", "id": question["id"], "result": yes()}).to_string());
    Answer::of(&lp.answer(call)).fine().contains("taken back");
    assert_eq!(ws.read("a.py"), "tally = 1\n");
}

fn legacy_b22_anything_else_does_not() {
    let odd = json!({"action": "accept", "content": {"apply": "yes"}});
    let bare = json!({"action": "accept"});
    for answers in [
        vec![json!({"action": "decline"})],
        vec![json!({"action": "cancel"})],
        vec![json!({"action": "accept", "content": {"apply": false}})],
        vec![odd.clone(), bare.clone(), odd.clone()],
    ] {
        let ws = Workspace::new(FIXTURE);
        let lp = start(&ws, LEGACY, true);
        let plan = plan(&lp);
        let (refused, asked) = answered(&lp, &plan, &answers);
        refused.fails("refused");
        assert_eq!(asked.len(), answers.len());
        assert_eq!(ws.read("a.py"), "tally = 1\n");
        assert_eq!(lp.notes("elicitation/create").len(), answers.len(), "and nobody is asked again");
    }
    let ws = Workspace::new(FIXTURE);
    let lp = start(&ws, LEGACY, true);
    let plan = plan(&lp);
    answered(&lp, &plan, &[odd, yes()]).0.fine();
    assert_eq!(ws.read("a.py"), "total = 1\n");
}

fn legacy_nobody_answers() {
    let ws = Workspace::new(FIXTURE);
    let builder = Langport::builder(&ws).server(Definition::new("fake", Script::new())).config("confirm = \"elicit\"");
    let lp = builder.max_wait(6_000).silent().start();
    lp.capable(json!({"elicitation": {}}));
    lp.greet();
    let plan = plan(&lp);
    lp.tool("apply", &json!({"plan": plan})).fails("refused").contains("in time");
    assert_eq!(ws.read("a.py"), "tally = 1\n");
}

/// Calls as a client of the newer era; answers with the result.
fn call(lp: &Langport, plan: &str, more: Value) -> Value {
    let mut params = json!({"name": "lsp_apply", "arguments": {"plan": plan}});
    params.as_object_mut().unwrap().extend(more.as_object().cloned().unwrap_or_default());
    lp.request("tools/call", params)["result"].take()
}

fn answer(state: &Value, answer: Value) -> Value {
    json!({"requestState": state, "inputResponses": {"consent": answer}})
}

fn text(result: &Value) -> String {
    result["content"][0]["text"].as_str().unwrap_or_default().to_owned()
}

fn modern_a_yes_makes_the_plan_once() {
    let ws = Workspace::new(FIXTURE);
    let lp = start(&ws, Era::Modern, true);
    let (first, second) = (plan(&lp), plan(&lp));
    let asked = call(&lp, &first, json!({}));
    assert_eq!(asked["resultType"], "input_required", "{asked}");
    let question = &asked["inputRequests"]["consent"];
    assert_eq!(question["method"], "elicitation/create");
    assert!(question["params"]["message"].as_str().unwrap().contains(&first), "{question}");
    let state = &asked["requestState"];
    assert!(!state.as_str().unwrap().contains(&first), "it says nothing");
    // Bound to its plan.
    let other = call(&lp, &second, answer(state, yes()));
    assert!(text(&other).starts_with("refused · this consent is for another plan"), "{other}");
    let used = call(&lp, &first, answer(state, yes()));
    assert!(text(&used).starts_with("refused · "), "used up: {used}");
    assert_eq!(ws.read("a.py"), "tally = 1\n");
    let asked = call(&lp, &first, json!({}));
    let made = call(&lp, &first, answer(&asked["requestState"], yes()));
    assert!(text(&made).contains("1 file changed"), "{made}");
    assert_eq!(ws.read("a.py"), "total = 1\n");
}

fn modern_b22_anything_else_does_not() {
    let ws = Workspace::new(FIXTURE);
    let lp = start(&ws, Era::Modern, true);
    let plan = plan(&lp);
    for no in [json!({"action": "decline"}), json!({"action": "accept", "content": {"apply": false}})] {
        let asked = call(&lp, &plan, json!({}));
        let refused = call(&lp, &plan, answer(&asked["requestState"], no));
        assert!(text(&refused).starts_with("refused · "), "{refused}");
    }
    let mut asked = call(&lp, &plan, json!({}));
    for _ in 0..2 {
        asked = call(&lp, &plan, answer(&asked["requestState"], json!({"action": "accept", "content": {}})));
        assert_eq!(asked["resultType"], "input_required", "{asked}");
    }
    let third = call(&lp, &plan, answer(&asked["requestState"], json!(7)));
    assert!(text(&third).starts_with("refused · "), "at most three: {third}");
    let made_up = call(&lp, &plan, answer(&json!("0123456789abcdef0123456789abcdef"), yes()));
    assert!(text(&made_up).starts_with("refused · "), "{made_up}");
    assert_eq!(ws.read("a.py"), "tally = 1\n");
}

fn a_client_that_cannot_ask_changes_nothing() {
    for era in [LEGACY, Era::Modern] {
        let ws = Workspace::new(FIXTURE);
        let lp = start(&ws, era, false);
        let plan = plan(&lp);
        lp.tool("apply", &json!({"plan": plan})).fails("refused").contains("cannot ask");
        assert_eq!(ws.read("a.py"), "tally = 1\n");
    }
}

fn without_the_setting_nobody_is_asked() {
    let ws = Workspace::new(FIXTURE);
    let lp = Langport::builder(&ws).server(Definition::new("fake", Script::new())).silent().start();
    lp.capable(json!({"elicitation": {"form": {}}}));
    lp.greet();
    let plan = plan(&lp);
    lp.tool("apply", &json!({"plan": plan})).fine();
    assert!(lp.notes("elicitation/create").is_empty());
}
