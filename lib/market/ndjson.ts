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

/**
 * Reads a body line by line as it arrives, buffering at most one line; blank lines are skipped but counted.
 * Lines come in groups, one per received chunk, so that a caller can handle many at once.
 * @throws BodyBroken when the sender disconnects; BodyTooLong past `bodyMaxBytes`, after the lines before that point.
 */
export async function* readLines(body: ReadableStream<Uint8Array>, limits: LineLimits): AsyncGenerator<readonly Line[]> {
  const decoder = new TextDecoder();
  const rest = new Uint8Array(limits.lineMaxBytes);
  let restBytes = 0;
  let overlong = false;
  let number = 0;
  let received = 0;

  function take(part: Uint8Array): void {
    if (overlong || restBytes + part.length > limits.lineMaxBytes) overlong = true;
    else {
      rest.set(part, restBytes);
      restBytes += part.length;
    }
  }

  function end(): Line | undefined {
    number += 1;
    const line = { number, text: overlong ? null : decoder.decode(rest.subarray(0, restBytes)).trim() };
    restBytes = 0;
    overlong = false;
    return line.text === "" ? undefined : line;
  }

  for await (const chunk of chunksOf(body)) {
    received += chunk.length;
    const usable = received > limits.bodyMaxBytes ? chunk.subarray(0, chunk.length - (received - limits.bodyMaxBytes)) : chunk;
    const lines: Line[] = [];
    let start = 0;
    for (let index = usable.indexOf(NEWLINE); index !== -1; index = usable.indexOf(NEWLINE, start)) {
      take(usable.subarray(start, index));
      const line = end();
      if (line !== undefined) lines.push(line);
      start = index + 1;
    }
    take(usable.subarray(start));
    if (lines.length > 0) yield lines;
    if (received > limits.bodyMaxBytes) throw new BodyTooLong();
  }
  if (restBytes > 0 || overlong) {
    const line = end();
    if (line !== undefined) yield [line];
  }
}

/** The chunks of a body; stops the sender when the reader stops early. */
async function* chunksOf(body: ReadableStream<Uint8Array>): AsyncGenerator<Uint8Array> {
  const reader = body.getReader();
  try {
    for (;;) {
      const { done, value } = await reader.read().catch((error: unknown) => {
        throw new BodyBroken("the body ended early", { cause: error });
      });
      if (done) return;
      yield value;
    }
  } finally {
    reader.cancel().catch(() => {});
  }
}
