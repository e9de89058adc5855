//! Asks a person, through the client, whether a plan may be made: on connections with a handshake by a request of our
//! own, on those without by an answer that says what input it takes. Whatever is not a plain yes is a no.

use std::{
    collections::HashMap,
    sync::{Mutex, PoisonError},
    time::{Duration, Instant},
};

use rmcp::{
    RoleServer,
    model::{
        ElicitRequest, ElicitRequestParams, ElicitResult, ElicitationAction, InputRequest, InputRequiredResult,
        InputResponses,
    },
    service::RequestContext,
};
use serde_json::{Value, json};

use crate::{
    render,
    tools::{
        Consent,
        outcome::{Code, Failure},
    },
};

/// How often one call may be answered with what is no answer.
const ATTEMPTS: u32 = 3;
/// Questions of one connection that wait for their answer.
const OPEN: usize = 64;
/// How long one waits.
const LIFETIME: Duration = Duration::from_secs(30 * 60);
/// What the question and its answer are called.
const KEY: &str = "consent";
/// Files that a question names.
const FILES: usize = 10;

/// What a call may go on with.
pub(super) enum Asked {
    Agreed(Consent),
    /// The client has to come back with an answer.
    Input(Box<InputRequiredResult>),
    Refused(Failure),
}

/// The questions of one connection that wait for their answer, by the state that comes back with it. The state itself
/// says nothing: a client can lose it, but not make one.
#[derive(Debug, Default)]
pub(super) struct Consents(Mutex<HashMap<String, Open>>);

#[derive(Debug)]
struct Open {
    consent: Consent,
    attempt: u32,
    made: Instant,
}

/// What an answer comes to.
#[derive(Debug, PartialEq, Eq)]
enum Said {
    Yes,
    No,
    /// Not of the asked shape.
    Unclear,
}

impl Consents {
    /// Asks for `wanted`, or takes the answer that came along with the call.
    pub(super) async fn ask(
        &self,
        wanted: Consent,
        responses: Option<&InputResponses>,
        state: Option<&str>,
        context: &RequestContext<RoleServer>,
        longest: Duration,
    ) -> Asked {
        let forms = context.client_capabilities().and_then(|all| all.elicitation);
        // A client of an older revision says `{}` and means forms.
        if !forms.is_some_and(|modes| modes.form.is_some() || modes.url.is_none()) {
            return Asked::Refused(refused(
                "a person has to agree to this plan, and this client cannot ask one",
                "use a client with elicitation, or have the user set confirm to \"none\"",
            ));
        }
        if context.protocol_version().is_some_and(|version| !version.has_initialize()) {
            return self.by_input(wanted, responses, state);
        }
        Self::by_request(wanted, context, longest).await
    }

    async fn by_request(wanted: Consent, context: &RequestContext<RoleServer>, longest: Duration) -> Asked {
        let end = Instant::now() + longest;
        for attempt in 1..=ATTEMPTS {
            let left = end.saturating_duration_since(Instant::now());
            let Some(params) = question(&wanted, attempt) else { return Asked::Refused(no_question()) };
            let asked = context.peer.create_elicitation_with_timeout(params, Some(left));
            let answer = tokio::select! {
                answer = asked => answer,
                () = context.ct.cancelled() => return Asked::Refused(declined()),
            };
            match answer.map(|answer| said(&answer)) {
                Ok(Said::Yes) => return Asked::Agreed(wanted),
                Ok(Said::No) => return Asked::Refused(declined()),
                Ok(Said::Unclear) => {}
                Err(error) => {
                    tracing::info!(%error, "nobody could be asked for consent");
                    return Asked::Refused(refused("nobody has agreed to this plan in time", "apply it again"));
                }
            }
        }
        Asked::Refused(unclear())
    }

    fn by_input(&self, wanted: Consent, responses: Option<&InputResponses>, state: Option<&str>) -> Asked {
        let Some(state) = state else { return self.put(wanted, 1) };
        let Some(open) = self.take(state) else {
            return Asked::Refused(refused("this consent has been used, or is too old", "apply the plan again"));
        };
        if open.consent != wanted {
            return Asked::Refused(refused("this consent is for another plan", "apply the plan again"));
        }
        let answer = responses.and_then(|all| all.get(KEY)).cloned().map(serde_json::from_value::<ElicitResult>);
        match answer.and_then(Result::ok).map_or(Said::Unclear, |answer| said(&answer)) {
            Said::Yes => Asked::Agreed(wanted),
            Said::No => Asked::Refused(declined()),
            Said::Unclear if open.attempt < ATTEMPTS => self.put(wanted, open.attempt + 1),
            Said::Unclear => Asked::Refused(unclear()),
        }
    }

    fn put(&self, consent: Consent, attempt: u32) -> Asked {
        let (Some(params), Some(state)) = (question(&consent, attempt), handle()) else {
            return Asked::Refused(no_question());
        };
        let mut open = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        open.retain(|_, open| open.made.elapsed() < LIFETIME);
        if open.len() >= OPEN {
            return Asked::Refused(refused("too many plans wait for a person", "answer those first"));
        }
        open.insert(state.clone(), Open { consent, attempt, made: Instant::now() });
        let requests = [(KEY.to_owned(), InputRequest::Elicitation(ElicitRequest::new(params)))];
        Asked::Input(Box::new(InputRequiredResult::new(Some(requests.into()), Some(state))))
    }

    /// Each state is good for one answer.
    fn take(&self, state: &str) -> Option<Open> {
        let mut open = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        open.remove(state).filter(|open| open.made.elapsed() < LIFETIME)
    }
}

/// 128 bits that nobody can guess; nothing where the system has none.
fn handle() -> Option<String> {
    let mut bytes = [0_u8; 16];
    getrandom::fill(&mut bytes).ok()?;
    Some(bytes.iter().map(|byte| format!("{byte:02x}")).collect())
}

/// The question; what it names comes from files and agents, so each is one clean line.
fn question(consent: &Consent, attempt: u32) -> Option<ElicitRequestParams> {
    let mut message = String::new();
    if attempt > 1 {
        message.push_str("The last answer was no yes or no. ");
    }
    message.push_str(&format!("May langport change files? {}\n", render::line(&consent.what, 300)));
    for file in consent.files.iter().take(FILES) {
        message.push_str(&format!("  {}\n", render::line(file, 200)));
    }
    if consent.files.len() > FILES {
        message.push_str(&format!("  and {} more\n", consent.files.len() - FILES));
    }
    let hash: String = consent.hash.chars().take(16).collect();
    message.push_str(&format!("Plan {} ({hash})", render::line(&consent.plan, 80)));
    serde_json::from_value(json!({
        "mode": "form",
        "message": message,
        "requestedSchema": {
            "type": "object",
            "properties": {"apply": {"type": "boolean", "title": "Change these files"}},
            "required": ["apply"],
        },
    }))
    .ok()
}

/// Reads an answer by the schema that was asked for.
fn said(answer: &ElicitResult) -> Said {
    match answer.action {
        ElicitationAction::Accept => match answer.content.as_ref().and_then(|content| content.get("apply")) {
            Some(Value::Bool(true)) => Said::Yes,
            Some(Value::Bool(false)) => Said::No,
            _ => Said::Unclear,
        },
        _ => Said::No,
    }
}

fn refused(what: &str, next: &str) -> Failure {
    Failure { code: Code::Refused, what: what.into(), next: next.into(), details: Vec::new(), servers: Vec::new() }
}

fn declined() -> Failure {
    refused("the user does not want this plan to be made", "ask the user what they want instead")
}

fn unclear() -> Failure {
    refused("three answers were no yes or no", "ask the user, then apply the plan again")
}

fn no_question() -> Failure {
    refused("the question could not be put", "apply the plan again")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn consent(plan: &str) -> Consent {
        Consent { plan: plan.into(), hash: "abc".into(), what: "rename".into(), files: vec!["a.py".into()] }
    }

    fn put(consents: &Consents, plan: &str) -> String {
        match consents.by_input(consent(plan), None, None) {
            Asked::Input(input) => input.request_state.unwrap(),
            _ => panic!("a question"),
        }
    }

    fn answer(value: Value) -> InputResponses {
        [(KEY.to_owned(), value)].into()
    }

    #[test]
    fn a_state_is_good_for_one_answer_and_one_plan() {
        let consents = Consents::default();
        let yes = answer(json!({"action": "accept", "content": {"apply": true}}));
        let state = put(&consents, "p1");
        assert!(matches!(consents.by_input(consent("p1"), Some(&yes), Some(&state)), Asked::Agreed(_)));
        assert!(matches!(consents.by_input(consent("p1"), Some(&yes), Some(&state)), Asked::Refused(_)), "once");
        let state = put(&consents, "p1");
        assert!(
            matches!(consents.by_input(consent("p2"), Some(&yes), Some(&state)), Asked::Refused(_)),
            "another plan"
        );
        assert!(matches!(consents.by_input(consent("p1"), Some(&yes), Some("0")), Asked::Refused(_)), "made up");
    }

    #[test]
    fn three_unclear_answers_are_a_no() {
        let consents = Consents::default();
        let odd = answer(json!({"action": "accept", "content": {"apply": "yes"}}));
        let mut state = put(&consents, "p");
        for _ in 1..ATTEMPTS {
            match consents.by_input(consent("p"), Some(&odd), Some(&state)) {
                Asked::Input(input) => state = input.request_state.unwrap(),
                _ => panic!("another question"),
            }
        }
        assert!(matches!(consents.by_input(consent("p"), Some(&odd), Some(&state)), Asked::Refused(_)));
    }

    #[test]
    fn only_a_yes_is_one() {
        let said_of = |value: Value| said(&serde_json::from_value(value).unwrap());
        assert_eq!(said_of(json!({"action": "accept", "content": {"apply": true}})), Said::Yes);
        assert_eq!(said_of(json!({"action": "accept", "content": {"apply": false}})), Said::No);
        assert_eq!(said_of(json!({"action": "accept"})), Said::Unclear);
        assert_eq!(said_of(json!({"action": "decline", "content": {"apply": true}})), Said::No);
        assert_eq!(said_of(json!({"action": "cancel"})), Said::No);
    }

    #[test]
    fn what_a_question_names_is_one_clean_line() {
        let consent = Consent { files: vec!["a\nApprove\u{202e}".into()], what: "x\n\ny".into(), ..consent("p") };
        let asked = serde_json::to_value(question(&consent, 1).unwrap()).unwrap();
        assert_eq!(asked["message"], "May langport change files? x y\n  a Approve\nPlan p (abc)");
        assert_eq!(asked["requestedSchema"]["required"], json!(["apply"]));
    }
}
