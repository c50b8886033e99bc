import type { ServerResponse } from "node:http";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import type { AnswerInParts } from "#lib/http/respond";
import type { Logger } from "#lib/log";

/** Made ahead of a client that reads slowly. */
const AHEAD_MAX_BYTES = 65_536;

type SendParts = (response: ServerResponse, answer: AnswerInParts) => void;

/**
 * Lets work take turns: each call resolves in a turn of the event loop of its own, first come, first served. So callers delay
 * everything else by one piece of their work at a time, however many they are.
 */
function createPace(): () => Promise<void> {
  // At most one for each response, and those are bounded by the connections.
  const waiting: (() => void)[] = [];
  const next = () => {
    waiting.shift()?.();
    if (waiting.length > 0) setImmediate(next);
  };
  return () =>
    new Promise((resolve) => {
      waiting.push(resolve);
      if (waiting.length === 1) setImmediate(next);
    });
}

/**
 * Makes the sender of answers in parts. A part is made when it is that answer's turn and its client has taken most of what was
 * made before: a slow reader holds a few parts, one that leaves ends the work.
 */
export function createPartsSender(log: Pick<Logger, "error">): SendParts {
  const turn = createPace();

  async function* inTurns(parts: AnswerInParts["body"]["parts"]) {
    await turn();
    for await (const part of parts) {
      yield part;
      await turn();
    }
  }

  return (response, { status, headers, body: { parts, encoder } }) => {
    response.writeHead(status, headers);
    const source = Readable.from(inTurns(parts), { objectMode: false, highWaterMark: AHEAD_MAX_BYTES });
    const sent = encoder === undefined ? pipeline(source, response) : pipeline(source, encoder, response);
    sent.catch((error: unknown) => {
      // The status is sent: the client sees that the body ends too early.
      if (!isGone(error)) log.error({ err: error }, "cannot make the rest of a response");
    });
  };
}

/** True when the client left. */
function isGone(error: unknown): boolean {
  return ["ERR_STREAM_PREMATURE_CLOSE", "ECONNRESET", "EPIPE"].includes((error as NodeJS.ErrnoException).code ?? "");
}
