/** One line of a newline-delimited body: its text, or null when it was longer than allowed. */
export interface Line {
  readonly number: number;
  readonly text: string | null;
}

interface LineLimits {
  readonly bodyMaxBytes: number;
  readonly lineMaxBytes: number;
}

/** Thrown when a body is longer than allowed; the lines before that have already been yielded. */
export class BodyTooLong extends Error {
  override readonly name = "BodyTooLong";
}

/** Thrown when the sender disconnects before the end of its body. */
export class BodyBroken extends Error {
  override readonly name = "BodyBroken";
}

const NEWLINE = 0x0a;
/** No character takes more bytes in UTF-8. */
const CHARACTER_MAX_BYTES = 3;

/**
 * Reads a body line by line as it arrives, buffering at most one line; blank lines are skipped but counted.
 * Lines come in groups, one per received chunk, so that a caller can handle many at once.
 * @throws BodyBroken when the sender disconnects; BodyTooLong past `bodyMaxBytes`, after the lines before that point.
 */
export async function* readLines(body: AsyncIterable<Uint8Array>, limits: LineLimits): AsyncGenerator<readonly Line[]> {
  const { bodyMaxBytes, lineMaxBytes } = limits;
  /** The beginning of a line whose end has not come yet; one byte too many marks a line that is too long. */
  let rest = Buffer.alloc(0);
  let number = 0;
  let received = 0;

  function lineOf(text: string): Line | undefined {
    number += 1;
    const fits = text.length * CHARACTER_MAX_BYTES <= lineMaxBytes || Buffer.byteLength(text) <= lineMaxBytes;
    const line = { number, text: fits ? text.trim() : null };
    return line.text === "" ? undefined : line;
  }

  /** The lines that end in this chunk. Decoding them together costs a fraction of decoding each. */
  function linesOf(chunk: Buffer): Line[] {
    const end = chunk.lastIndexOf(NEWLINE);
    if (end === -1) {
      rest = Buffer.concat([rest, chunk.subarray(0, lineMaxBytes + 1 - rest.length)]);
      return [];
    }
    const whole = Buffer.concat([rest, chunk.subarray(0, end)]).toString();
    rest = Buffer.from(chunk.subarray(end + 1, end + 2 + lineMaxBytes));
    return whole
      .split("\n")
      .map(lineOf)
      .filter((line) => line !== undefined);
  }

  for await (const chunk of chunksOf(body)) {
    received += chunk.length;
    const usable = received > bodyMaxBytes ? chunk.subarray(0, chunk.length - (received - bodyMaxBytes)) : chunk;
    const lines = linesOf(Buffer.from(usable.buffer, usable.byteOffset, usable.length));
    if (lines.length > 0) yield lines;
    if (received > bodyMaxBytes) throw new BodyTooLong();
  }
  const last = rest.length > 0 ? lineOf(rest.toString()) : undefined;
  if (last !== undefined) yield [last];
}

/** The chunks of a body. */
async function* chunksOf(body: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  const chunks = body[Symbol.asyncIterator]();
  try {
    for (;;) {
      const { done, value } = await chunks.next().catch((error: unknown) => {
        throw new BodyBroken("the body ended early", { cause: error });
      });
      if (done) return;
      yield value;
    }
  } finally {
    // Not awaited: a sender that stalls would keep the answer waiting.
    chunks.return?.().catch(() => undefined);
  }
}
