/** Rows per piece of text. */
const PIECE_ROWS = 8_192;

/** A value as one cell of a line, quoted where it contains a separator. */
export function cell(value: string): string {
  return /[",\r\n]/.test(value) ? `"${value.replace(/["\r\n]+/g, " ")}"` : value;
}

/**
 * Text of comma-separated lines, for files whose rows are not text: a header line, then a line for each row. Row n is on line
 * n + 1.
 */
export function* linesOf(rows: Iterable<string>): Generator<Buffer> {
  let lines: string[] = [];
  for (const row of rows) {
    lines.push(row);
    if (lines.length < PIECE_ROWS) continue;
    yield Buffer.from(`${lines.join("\n")}\n`);
    lines = [];
  }
  if (lines.length > 0) yield Buffer.from(`${lines.join("\n")}\n`);
}
