import { KEY_VARIABLE, keyOf, type Sample, type StreamCall, streamUrlOf, subscribeTextOf } from "./call";

/** Rust with the crate tungstenite, which answers pings while it reads. */
export const rustStream: Sample<StreamCall> = {
  id: "rust",
  label: "Rust",
  install: "cargo add tungstenite --features native-tls",
  generate(call) {
    const key = keyOf(call);
    const bearer = key === null ? `format!("Bearer {}", std::env::var("${KEY_VARIABLE}")?)` : `"Bearer ${key}"`;
    return `use tungstenite::client::IntoClientRequest;
use tungstenite::Message;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut request = "${streamUrlOf(call)}".into_client_request()?;
    request.headers_mut().insert("Authorization", ${bearer}.parse()?);
    let (mut socket, _) = tungstenite::connect(request)?;
    let subscribe = r#"${subscribeTextOf(call)}"#;
    socket.send(Message::text(subscribe))?;
    loop {
        match socket.read()? {
            Message::Text(text) => println!("{text}"),
            Message::Close(frame) => return Err(format!("closed {frame:?}").into()),
            _ => {}
        }
    }
}`;
  },
};
