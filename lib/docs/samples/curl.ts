import { KEY_VARIABLE, keyOf, type RestCall, type Sample, urlOf } from "./call";

/** A line for a POSIX shell. */
export const curl: Sample<RestCall> = {
  id: "curl",
  label: "curl",
  generate(call) {
    const method = call.operation.method === "GET" ? "" : `-X ${call.operation.method} `;
    const file = call.operation.file && `--fail -o "${call.operation.file.name}" `;
    return `curl ${file ?? ""}${method}"${urlOf(call)}" \\\n  -H "Authorization: Bearer ${keyOf(call) ?? `$${KEY_VARIABLE}`}"`;
  },
};
