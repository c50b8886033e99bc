import { KEY_VARIABLE, keyOf, type RestCall, type Sample, urlOf } from "./call";

/** Rust with the crate reqwest. */
export const rust: Sample<RestCall> = {
  id: "rust",
  label: "Rust",
  install: "cargo add reqwest --features blocking",
  generate(call) {
    const key = keyOf(call);
    const token = key === null ? `std::env::var("${KEY_VARIABLE}")?` : `"${key}"`;
    return `fn main() -> Result<(), Box<dyn std::error::Error>> {
    let response = reqwest::blocking::Client::new()
        .${call.operation.method.toLowerCase()}("${urlOf(call)}")
        .bearer_auth(${token})
        .send()?;
    let status = response.status();
    let body = response.text()?;
    if !status.is_success() {
        return Err(body.into());
    }
    println!("{body}");
    Ok(())
}`;
  },
};
