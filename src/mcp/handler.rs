//! What rmcp asks of a server, answered for one connection.

use std::{
    borrow::Cow,
    panic::AssertUnwindSafe,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
};

use rmcp::{
    ErrorData, RoleServer, ServerHandler,
    model::{
        CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock, CustomRequest, CustomResult, ErrorCode,
        Implementation, JsonObject, ListResourceTemplatesResult, ListResourcesResult, ListToolsResult, MetaObject,
        PaginatedRequestParams, ProtocolVersion, ReadResourceRequestParams, ReadResourceResponse, ReadResourceResult,
        ResourceContents, ServerCapabilities, ServerConfig, SubscribeRequestParams, SubscriptionFilter, Tool,
        UnsubscribeRequestParams,
    },
    service::{NotificationContext, RequestContext, SubscriptionContext},
};
use serde_json::Value;
use tokio_util::sync::CancellationToken;

use super::{
    McpSettings,
    calls::{self, Calls, Ended},
    catalog,
    changes::Listeners,
    consent::{Asked, Consents},
    instructions::INSTRUCTIONS,
    names,
    progress::Progress,
    resources::{self, Subject},
    subscriptions::{self, Subscriptions},
};
use crate::{
    render::{self, Options, Rendered},
    tools::{
        Caller, ProgressSink, ToolCall, ToolId, Tools,
        outcome::{Code, Failure, Outcome},
    },
};

static CONNECTIONS: AtomicU64 = AtomicU64::new(1);

/// The handler of one connection: a cheap clone.
#[derive(Clone)]
pub(super) struct Handler(Arc<Inner>);

struct Inner {
    tools: Arc<dyn Tools>,
    settings: McpSettings,
    config: ServerConfig,
    connection: u64,
    calls: Calls,
    consents: Consents,
    listeners: Arc<Listeners>,
    subscriptions: Subscriptions,
    closing: CancellationToken,
}

impl Handler {
    pub(super) fn new(
        tools: Arc<dyn Tools>,
        settings: McpSettings,
        listeners: Arc<Listeners>,
        closing: CancellationToken,
    ) -> Self {
        let capabilities = ServerCapabilities::builder()
            .enable_tools()
            .enable_tool_list_changed()
            .enable_resources()
            .enable_resources_subscribe()
            .build();
        let this = Implementation::new("langport", env!("CARGO_PKG_VERSION")).with_title("langport");
        let config = ServerConfig::new(capabilities)
            .with_protocol_version(ProtocolVersion::LATEST_WITH_INITIALIZE)
            .with_server_info(this)
            .with_instructions(INSTRUCTIONS);
        Self(Arc::new(Inner {
            calls: Calls::new(settings.calls, closing.clone()),
            consents: Consents::default(),
            connection: CONNECTIONS.fetch_add(1, Ordering::Relaxed),
            tools,
            settings,
            config,
            listeners,
            subscriptions: Subscriptions::default(),
            closing,
        }))
    }

    /// Tells this connection's client of updates of the resources that it has subscribed to.
    pub(super) async fn tell_of_updates(&self) {
        let caller = Arc::new(self.caller_named(String::new()));
        self.0.subscriptions.run(Arc::clone(&self.0.tools), caller).await;
    }

    fn caller(&self, context: &RequestContext<RoleServer>) -> Caller {
        let client = context.client_info().map(|info| format!("{} {}", info.name, info.version)).unwrap_or_default();
        self.caller_named(render::line(&client, 80))
    }

    fn caller_named(&self, client: String) -> Caller {
        Caller {
            id: self.0.connection,
            client,
            max_wait: self.0.settings.max_wait,
            max_chars: self.0.settings.max_chars,
        }
    }

    /// Who answers: in the era without a handshake every result says it.
    fn signed(&self, context: &RequestContext<RoleServer>) -> Option<MetaObject> {
        context.protocol_version().filter(|version| *version >= ProtocolVersion::V_2026_07_28)?;
        let this = serde_json::to_value(&self.0.config.server_info).ok()?;
        Some(MetaObject::from(JsonObject::from_iter([("io.modelcontextprotocol/serverInfo".to_owned(), this)])))
    }

    fn options(&self, tool: ToolId) -> Options {
        Options { tool, output: self.0.settings.output, max_chars: self.0.settings.max_chars }
    }

    /// Advice names tools as they are listed.
    fn failure(&self, failure: &Failure) -> Rendered {
        let names = self.0.settings.names;
        let (what, next) = (names.respell(&failure.what), names.respell(&failure.next));
        render::failure(&Failure { what, next, ..failure.clone() }, self.0.settings.max_chars)
    }

    fn respelt<'a>(&self, outcome: &'a Outcome) -> Cow<'a, Outcome> {
        let names = self.0.settings.names;
        let advises = |text: &String| text.contains("lsp/");
        if !outcome.notes.iter().any(advises) && !advises(&outcome.summary) {
            return Cow::Borrowed(outcome);
        }
        let notes = outcome.notes.iter().map(|note| names.respell(note)).collect();
        Cow::Owned(Outcome { notes, summary: names.respell(&outcome.summary), ..outcome.clone() })
    }

    fn unknown(&self, name: &str) -> ErrorData {
        let near = names::nearest(name, self.0.settings.names).join(", ");
        let next =
            if near.is_empty() { "tools/list has those that there are".into() } else { format!("Nearest: {near}") };
        ErrorData::invalid_params(format!("Unknown tool: {}. {next}", render::line(name, 80)), None)
    }
}

impl Drop for Inner {
    fn drop(&mut self) {
        self.tools.forget(self.connection);
    }
}

impl ServerHandler for Handler {
    fn get_info(&self) -> ServerConfig {
        self.0.config.clone()
    }

    async fn list_tools(
        &self,
        request: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        // Everything fits on one page, so there is no cursor to come back with but the empty one.
        if request.and_then(|request| request.cursor).is_some_and(|cursor| !cursor.is_empty()) {
            return Err(ErrorData::invalid_params("no such cursor: the list of tools is one page", None));
        }
        let settings = &self.0.settings;
        let tools = catalog::tools(&(settings.offered)(), settings.names, settings.output);
        let mut list = ListToolsResult::with_all_items(tools);
        list.meta = self.signed(&context);
        Ok(list)
    }

    fn get_tool(&self, name: &str) -> Option<Tool> {
        let settings = &self.0.settings;
        catalog::tools(&[names::parse(name)?], settings.names, settings.output).pop()
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let tool = names::parse(&request.name).ok_or_else(|| self.unknown(&request.name))?;
        let caller = Arc::new(self.caller(&context));
        let (telling, progress) = match context.meta.get_progress_token() {
            Some(token) => {
                let (telling, sink) = Progress::start(context.peer.clone(), token);
                (Some(telling), sink)
            }
            None => (None, ProgressSink::default()),
        };
        let mut call = ToolCall::new(tool, request.arguments.unwrap_or_default(), caller, progress);
        let refused = match self.0.tools.consent(&call) {
            Ok(None) => None,
            Ok(Some(wanted)) => {
                let (responses, state) = (request.input_responses.as_ref(), request.request_state.as_deref());
                let longest = self.0.settings.max_wait;
                match self.0.consents.ask(wanted, responses, state, &context, longest).await {
                    Asked::Agreed(consent) => {
                        call = call.agreed(consent);
                        None
                    }
                    Asked::Input(mut input) => {
                        input.meta = self.signed(&context);
                        return Ok((*input).into());
                    }
                    Asked::Refused(failure) => Some(failure),
                }
            }
            Err(failure) => Some(failure),
        };
        let ended = match refused {
            Some(failure) => Ended::Answered(Box::new(Err(failure))),
            None => self.0.calls.run(&context.id, &context.ct, Arc::clone(&self.0.tools), call).await,
        };
        // rmcp sends nothing for a cancelled request, whatever is returned.
        let Ended::Answered(answer) = ended else { return Err(ErrorData::internal_error("cancelled", None)) };
        let render = || match &*answer {
            Ok(outcome) => render::outcome(&self.respelt(outcome), self.options(tool)),
            Err(failure) => self.failure(failure),
        };
        // A handler that panics never answers: a defect here, too, must end in an error.
        let rendered = std::panic::catch_unwind(AssertUnwindSafe(render))
            .unwrap_or_else(|_| self.failure(&calls::panicked(tool.canonical())));
        if let Some(telling) = telling {
            telling.finish().await;
        }
        let mut result = result(rendered);
        result.meta = self.signed(&context);
        Ok(result.into())
    }

    async fn list_resources(
        &self,
        _: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListResourcesResult, ErrorData> {
        let mut list = ListResourcesResult::with_all_items(resources::list());
        list.meta = self.signed(&context);
        Ok(list)
    }

    async fn list_resource_templates(
        &self,
        _: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListResourceTemplatesResult, ErrorData> {
        let mut list = ListResourceTemplatesResult::with_all_items(resources::templates());
        list.meta = self.signed(&context);
        Ok(list)
    }

    async fn read_resource(
        &self,
        request: ReadResourceRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<ReadResourceResponse, ErrorData> {
        let subject = Subject::parse(&request.uri).ok_or_else(|| missing(&context, resources::unknown()))?;
        let (tool, arguments) = subject.call();
        let caller = Arc::new(self.caller(&context));
        let call = ToolCall::new(tool, arguments, caller, ProgressSink::default());
        let ended = self.0.calls.run(&context.id, &context.ct, Arc::clone(&self.0.tools), call).await;
        let Ended::Answered(answer) = ended else { return Err(ErrorData::internal_error("cancelled", None)) };
        self.0.subscriptions.read(&request.uri, &answer);
        let rendered = match &*answer {
            // What is not there is not there; a server that is not there is news of the resource.
            Err(failure) if matches!(failure.code, Code::NotFound | Code::OutsideWorkspace | Code::Invalid) => {
                return Err(missing(&context, self.failure(failure).text));
            }
            Err(failure) => self.failure(failure),
            Ok(outcome) => {
                render::outcome(&self.respelt(outcome), Options { output: render::Output::Text, ..self.options(tool) })
            }
        };
        let mut result = ReadResourceResult::new(vec![ResourceContents::text(rendered.text, request.uri)]);
        result.meta = self.signed(&context);
        Ok(result.into())
    }

    async fn subscribe(
        &self,
        request: SubscribeRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        if Subject::parse(&request.uri).is_none() {
            return Err(missing(&context, resources::unknown()));
        }
        if !self.0.subscriptions.add_peer(request.uri, context.peer) {
            let limit = subscriptions::LIMIT;
            return Err(ErrorData::invalid_params(
                format!("no more than {limit} resources can be subscribed to"),
                None,
            ));
        }
        Ok(())
    }

    async fn unsubscribe(
        &self,
        request: UnsubscribeRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        self.0.subscriptions.remove_peer(&request.uri);
        Ok(())
    }

    async fn on_custom_request(
        &self,
        request: CustomRequest,
        _: RequestContext<RoleServer>,
    ) -> Result<CustomResult, ErrorData> {
        Err(match request.method.as_str() {
            "tools/call" => malformed_call(request.params.as_ref()),
            method @ ("initialize" | "tools/list" | "subscriptions/listen" | "server/discover") => {
                ErrorData::invalid_params(format!("the params of {method} are not an object of the right shape"), None)
            }
            method => ErrorData::new(ErrorCode::METHOD_NOT_FOUND, render::line(method, 80), None),
        })
    }

    async fn on_initialized(&self, context: NotificationContext<RoleServer>) {
        self.0.listeners.set_peer(context.peer);
    }

    fn accepted_subscription_filter(&self, asked: &SubscriptionFilter) -> Option<SubscriptionFilter> {
        let filter = SubscriptionFilter::builder().tools_list_changed();
        Some(match &asked.resource_subscriptions {
            Some(uris) => filter.resource_subscriptions(self.0.subscriptions.acceptable(uris)).build(),
            None => filter.build(),
        })
    }

    async fn listen(&self, context: SubscriptionContext) -> Result<(), ErrorData> {
        let key = self.0.listeners.add(context.sink().clone());
        self.0.subscriptions.add_sink(key, context.sink());
        tokio::select! {
            () = context.cancelled() => {}
            () = self.0.closing.cancelled() => {}
        }
        self.0.listeners.remove(key);
        self.0.subscriptions.remove_sink(key);
        Ok(())
    }

    fn supported_protocol_versions(&self) -> Cow<'static, [ProtocolVersion]> {
        Cow::Borrowed(ProtocolVersion::KNOWN_VERSIONS)
    }
}

/// A resource that is not there: the two eras have codes of their own.
fn missing(context: &RequestContext<RoleServer>, message: String) -> ErrorData {
    if context.protocol_version().is_some_and(|version| version >= ProtocolVersion::V_2026_07_28) {
        return ErrorData::invalid_params(message, None);
    }
    ErrorData::resource_not_found(message, None)
}

/// rmcp hands over a call whose parameters it cannot read as one of an unknown method.
fn malformed_call(params: Option<&Value>) -> ErrorData {
    let kind = |value: &Value| match value {
        Value::Null => "null",
        Value::Bool(_) => "a boolean",
        Value::Number(_) => "a number",
        Value::String(_) => "a string",
        Value::Array(_) => "an array",
        Value::Object(_) => "an object",
    };
    let message = match params {
        Some(Value::Object(params)) => match (params.get("name"), params.get("arguments")) {
            (Some(Value::String(_)), Some(other)) if !other.is_object() => format!(
                "`arguments` is {}; it must be a JSON object such as {{\"file_path\": \"src/main.py\", \"line\": 3, \
                 \"symbol\": \"run\"}}",
                kind(other)
            ),
            (Some(Value::String(_)), _) => {
                "tools/call has `name`, `arguments` and `_meta`; one of them has the wrong shape".to_owned()
            }
            (name, _) => format!("`name` is {}; it must be the tool's name", name.map_or("missing", kind)),
        },
        other => format!(
            "the params of tools/call are {}; they must be an object with `name` and `arguments`",
            other.map_or("missing", kind)
        ),
    };
    ErrorData::invalid_params(message, None)
}

fn result(rendered: Rendered) -> CallToolResult {
    let content = vec![ContentBlock::text(rendered.text)];
    let mut result = if rendered.is_error { CallToolResult::error(content) } else { CallToolResult::success(content) };
    result.structured_content = rendered.structured;
    result
}
