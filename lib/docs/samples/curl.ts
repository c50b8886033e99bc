import { KEY_VARIABLE, keyOf, type RestCall, type Sample, urlOf } from "./call";

/** A line for a POSIX shell. */
export const curl: Sample<RestCall> = {
  id: "curl",
  label: "curl",
  generate(call) {
    const method = call.operation.method === "GET" ? "" : `-X ${call.operation.method} `;
    return `curl ${method}"${urlOf(call)}" \\\n  -H "Authorization: Bearer ${keyOf(call) ?? `$${KEY_VARIABLE}`}"`;
  },
};
