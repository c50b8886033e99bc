import { KEY_VARIABLE, keyOf, type RestCall, type Sample, urlOf } from "./call";

const PRINTED = `    let status = response.status();
    let body = response.text()?;
    if !status.is_success() {
        return Err(body.into());
    }
    println!("{body}");`;

const savedAs = (name: string) => `    if !response.status().is_success() {
        return Err(response.text()?.into());
    }
    let mut file = std::fs::File::create("${name}")?;
    response.copy_to(&mut file)?;`;

/** Rust with the crate reqwest. */
export const rust: Sample<RestCall> = {
  id: "rust",
  label: "Rust",
  install: "cargo add reqwest --features blocking",
  generate(call) {
    const key = keyOf(call);
    const token = key === null ? `std::env::var("${KEY_VARIABLE}")?` : `"${key}"`;
    const { file } = call.operation;
    return `fn main() -> Result<(), Box<dyn std::error::Error>> {
    let ${file === undefined ? "" : "mut "}response = reqwest::blocking::Client::new()
        .${call.operation.method.toLowerCase()}("${urlOf(call)}")
        .bearer_auth(${token})
        .send()?;
${file === undefined ? PRINTED : savedAs(file.name)}
    Ok(())
}`;
  },
};
