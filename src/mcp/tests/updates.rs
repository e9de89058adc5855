//! Resources, subscriptions to them and what is told of their updates, in both eras.

use super::*;

const FILE: &str = "langport://diagnostics/src/cart.py";
const STATUS: &str = "langport://status";

impl Client {
    /// Something happened: to files, to what servers say, to servers.
    fn happened(&self, what: impl Fn(&Happen) -> &watch::Sender<u64>) {
        what(&self.script.happen).send_modify(|n| *n += 1);
    }

    fn answers(&self, summary: &str) {
        *self.script.problems.lock().unwrap() = summary.to_owned();
    }

    async fn read(&mut self, uri: &str) -> Value {
        self.request("resources/read", json!({"uri": uri})).await
    }

    /// The address of the next update, and how it is marked.
    async fn update(&mut self) -> (String, Value) {
        let message = self.receive().await;
        assert_eq!(message["method"], "notifications/resources/updated", "{message}");
        let id = message["params"]["_meta"]["io.modelcontextprotocol/subscriptionId"].clone();
        (message["params"]["uri"].as_str().unwrap().to_owned(), id)
    }
}

#[tokio::test]
async fn resources_are_listed_and_read_in_both_eras() {
    for mut client in [Client::legacy(McpSettings::default()).await, Client::modern(McpSettings::default())] {
        let list = client.request("resources/list", json!({})).await;
        assert_eq!(list["result"]["resources"][0]["uri"], STATUS, "{list}");
        let list = client.request("resources/templates/list", json!({})).await;
        let template = "langport://diagnostics/{+path}";
        assert_eq!(list["result"]["resourceTemplates"][0]["uriTemplate"], template, "{list}");
        let read = client.read(FILE).await;
        assert_eq!(read["result"]["contents"][0]["uri"], FILE, "{read}");
        let text = read["result"]["contents"][0]["text"].as_str().unwrap();
        assert!(text.starts_with("fresh · pyright · no problems"), "{text}");
        let call = client.seen.recv().await.unwrap();
        assert_eq!((call.tool, &call.arguments["file_path"]), (ToolId::Diagnostics, &json!("src/cart.py")));
        assert_eq!(client.read(STATUS).await["result"]["contents"][0]["mimeType"], "text/plain");
        // What is not there: an address, a file.
        let code = if client.modern { -32602 } else { -32002 };
        assert_eq!(client.read("file:///etc/passwd").await["error"]["code"], code);
        client.answers("");
        let missing = client.read(FILE).await;
        assert_eq!(missing["error"]["code"], code, "{missing}");
        assert!(missing["error"]["message"].as_str().unwrap().contains("cart.py has no line 900"), "{missing}");
        client.close().await;
    }
}

#[tokio::test(start_paused = true)]
async fn a_subscriber_is_told_once_of_another_answer_and_never_of_the_same() {
    let mut client = Client::legacy(McpSettings::default()).await;
    for uri in [FILE, STATUS] {
        assert_eq!(client.request("resources/subscribe", json!({"uri": uri})).await["result"], json!({}));
    }
    client.read(FILE).await;
    // Many changes to files, the same answer: nothing to tell. A server's state: only that.
    for _ in 0..5 {
        client.happened(|happen| &happen.files);
    }
    client.happened(|happen| &happen.states);
    assert_eq!(client.update().await.0, STATUS);
    client.answers("1 error");
    client.happened(|happen| &happen.files);
    assert_eq!(client.update().await.0, FILE);
    // A server that keeps talking and says nothing new, then something new.
    for _ in 0..20 {
        client.happened(|happen| &happen.problems);
        tokio::time::sleep(Duration::from_millis(300)).await;
    }
    client.answers("2 errors");
    client.happened(|happen| &happen.problems);
    assert_eq!(client.update().await.0, FILE);
    assert_eq!(client.request("resources/unsubscribe", json!({"uri": FILE})).await["result"], json!({}));
    client.answers("3 errors");
    client.happened(|happen| &happen.files);
    client.happened(|happen| &happen.states);
    assert_eq!(client.update().await.0, STATUS);
    assert!(client.close().await.is_empty());
}

#[tokio::test(start_paused = true)]
async fn subscriptions_of_the_era_without_a_handshake() {
    let mut client = Client::modern(McpSettings::default());
    let filter = json!({"resourceSubscriptions": [FILE, "file:///etc/passwd"]});
    let id = client.post("subscriptions/listen", json!({"notifications": filter})).await;
    let accepted = client.receive().await;
    assert_eq!(accepted["method"], "notifications/subscriptions/acknowledged", "{accepted}");
    assert_eq!(accepted["params"]["notifications"]["resourceSubscriptions"], json!([FILE]), "{accepted}");
    client.read(FILE).await;
    client.answers("1 error");
    client.happened(|happen| &happen.files);
    assert_eq!(client.update().await, (FILE.to_owned(), json!(id)));
    client.cancel(id).await;
    // Once it is answered, the subscription is gone.
    client.request("ping", json!({})).await;
    client.close().await;
}

#[tokio::test]
async fn subscriptions_are_bounded_and_only_to_what_there_is() {
    let mut client = Client::legacy(McpSettings::default()).await;
    assert_eq!(client.request("resources/subscribe", json!({"uri": "file:///x"})).await["error"]["code"], -32002);
    for n in 0..subscriptions::LIMIT {
        let uri = format!("langport://diagnostics/{n}.py");
        assert_eq!(client.request("resources/subscribe", json!({"uri": uri})).await["result"], json!({}));
    }
    let refused = client.request("resources/subscribe", json!({"uri": STATUS})).await;
    assert!(refused["error"]["message"].as_str().unwrap().contains("64"), "{refused}");
    client.close().await;
}
