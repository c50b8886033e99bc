type Words = readonly [yes: string, no: string];

function literal(value: unknown, quoteKey: (key: string) => string, words: Words, pad: string): string {
  if (typeof value === "boolean") return words[value ? 0 : 1];
  if (Array.isArray(value)) return `[${value.map((item) => literal(item, quoteKey, words, pad)).join(", ")}]`;
  if (typeof value !== "object" || value === null) return JSON.stringify(value);
  const fields = Object.entries(value).map(([key, item]) => `${quoteKey(key)}: ${literal(item, quoteKey, words, pad)}`);
  return `{${pad}${fields.join(", ")}${pad}}`;
}

/** A value as JavaScript; the keys of its objects must be identifiers. JSON's strings are JavaScript's. */
export const javaScriptLiteral = (value: unknown) => literal(value, (key) => key, ["true", "false"], " ");

/** A value as Python; its texts must be well-formed Unicode. JSON's strings are Python's too. */
export const pythonLiteral = (value: unknown) => literal(value, JSON.stringify, ["True", "False"], "");

/** A text as one word of a POSIX shell: nothing is active between single quotes but the quote itself. NUL cannot be in one. */
export const shellLiteral = (text: string) => `'${text.replaceAll("\0", "").replaceAll("'", `'\\''`)}'`;
