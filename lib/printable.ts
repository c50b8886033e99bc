/**
 * Characters that a terminal may obey: control characters (C0, DEL and C1) but tab and newline, and those that change the
 * direction or the lines of a text.
 */
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
const OBEYED = /[\0-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069]/g;

const escapeOf = (character: string, digits: number, mark: string) =>
  `\\${mark}${(character.codePointAt(0) ?? 0).toString(16).padStart(digits, "0")}`;

/**
 * A text that may come from a file, a name or another machine, as it is printed: characters that a terminal would obey
 * appear as `\x1b` or `\u202e`. Newlines stay.
 */
export function printable(text: string): string {
  return text.replace(OBEYED, (character) => (character > "\xff" ? escapeOf(character, 4, "u") : escapeOf(character, 2, "x")));
}

/** The same without newlines, for a name within a line. */
export function printableName(text: string): string {
  return printable(text).replaceAll("\n", "\\x0a");
}

/** A line of JSON, as it is logged: JSON leaves DEL, C1 and the characters of direction as they are. */
export function printableJson(line: string): string {
  return line.replace(OBEYED, (character) => escapeOf(character, 4, "u"));
}
