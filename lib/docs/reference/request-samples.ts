import type { Operation } from "#lib/contract/operation";
import { SAMPLE_BASE, SAMPLE_KEY } from "../sample-words";
import { generate } from "../samples";
import { KEY_VARIABLE } from "../samples/call";
import { blocks } from "./page";

/** What a highlighter calls the language of a sample, where its id is another. */
const FENCES: Readonly<Record<string, string>> = { curl: "bash" };

/** Origins are named by servers that ask for their page; the first call of a reader is not one of them. */
function exampleParameters({ query }: Operation): Record<string, string> {
  const pairs = Object.entries(query).filter(([name]) => name !== "origin");
  return Object.fromEntries(pairs.map(([name, { example }]) => [name, example]));
}

/** The operation with the examples of its parameters, in every language; one that takes a body as a shell line alone. */
export function requestSamples(operation: Operation): string {
  if (operation.body !== undefined) {
    const { mediaType, example } = operation.body;
    const lines = [
      `printf '%s\\n' '${example.trimEnd()}' |`,
      `  curl -X ${operation.method} "${SAMPLE_BASE}${operation.path}" \\`,
      `  -H "Authorization: Bearer $${KEY_VARIABLE}" -H "Content-Type: ${mediaType}" --data-binary @-`,
    ];
    return blocks(
      `\`${KEY_VARIABLE}\` holds a key with the scope \`${operation.scope}\`; the demo key does not have it.`,
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
