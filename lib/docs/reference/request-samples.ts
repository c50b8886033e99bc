import { exampleParameters, type Operation } from "#lib/contract/operation";
import { SAMPLE_BASE, SAMPLE_KEY } from "../sample-words";
import { generate } from "../samples";
import { KEY_VARIABLE } from "../samples/call";
import { blocks } from "./page";

/** Highlighter language of a sample, where it differs from the sample id. */
const FENCES: Readonly<Record<string, string>> = { curl: "bash" };

/** The operation with its example parameters in every language; an operation with a body only as a shell command. */
export function requestSamples(operation: Operation): string {
  if (operation.body !== undefined) {
    const { mediaType, example } = operation.body;
    const lines = [
      `printf '%s\\n' '${example.trimEnd()}' |`,
      `  curl -X ${operation.method} "${SAMPLE_BASE}${operation.path}" \\`,
      `  -H "Authorization: Bearer $${KEY_VARIABLE}" -H "Content-Type: ${mediaType}" --data-binary @-`,
    ];
    return blocks(
      `Set \`${KEY_VARIABLE}\` to a key with the scope \`${operation.scope}\`. The demo key does not have this scope.`,
      `\`\`\`bash\n${lines.join("\n")}\n\`\`\``,
    );
  }
  const samples = generate({ base: SAMPLE_BASE, key: SAMPLE_KEY, operation, parameters: exampleParameters(operation) });
  const block = (language: string, label: string, code: string) => `\`\`\`${language} tab="${label}"\n${code.trimEnd()}\n\`\`\``;
  return blocks(
    "The samples use the public demo key.",
    ...samples.map(({ id, label, code }) => block(FENCES[id] ?? id, label, code)),
  );
}
