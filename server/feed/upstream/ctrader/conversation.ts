import { SECOND_MS } from "#lib/units";
import { Upset } from "../../feed";
import type { Link, Received } from "../port";
import { openSocket } from "../socket";
import { type Failure, readMessage, TYPES } from "./wire";

/** The Open API wants a message at least every ten seconds. */
const HEARTBEAT = { everyMs: 8 * SECOND_MS, message: { payloadType: TYPES.heartbeat, payload: {} } };
/** How often a question is asked again that came too soon. */
const ASKED_MAX_COUNT = 3;
/** The longest pause that is waited for without giving the connection up. */
const PAUSE_MAX_MS = 2 * SECOND_MS;
/** Prices that may come before the answer to a subscription. */
const EARLY_MAX_COUNT = 10_000;

type Answer = { readonly payload: unknown } | { readonly failure: Failure };

/** One connection to the Open API: questions with their answers, and prices. It ends by a throw. */
export function openConversation(url: string, link: Omit<Link, "step">, pingMs: number) {
  const connection = openSocket(url, "cTrader", link);
  connection.keepAlive(pingMs, HEARTBEAT);
  let [texts, at]: [readonly string[], number] = [[], 0];
  /** Prices that came while an answer was waited for. */
  const early: Received[] = [];

  async function next(): Promise<string> {
    if (at === texts.length) [texts, at] = [await connection.next(), 0];
    at += 1;
    return texts[at - 1] ?? "";
  }

  /** Reads a message; what is neither an answer nor a failure is done with here. @throws Upset when the session is over */
  function read(text: string, received: Received[]) {
    const message = readMessage(text, link.clock.now());
    if (message === "heartbeat") return undefined;
    if ("received" in message) received.push(message.received);
    else if ("odd" in message) link.odd(message.odd, text);
    else if ("lost" in message) throw new Upset(`cTrader ended the session: ${message.lost}`);
    else return message;
    return undefined;
  }

  async function answerTo(type: number, payload: object): Promise<Answer> {
    connection.send({ clientMsgId: `${type}`, payloadType: type, payload });
    for (;;) {
      const text = await next();
      const message = read(text, early);
      if (early.length > EARLY_MAX_COUNT) throw new Upset("cTrader sends prices, and no answer");
      if (message === undefined) continue;
      if ("failure" in message) return message;
      // The number of an answer follows that of its question.
      if (message.answer === type + 1) return message;
      link.odd("unknown_type", text);
    }
  }

  return {
    opened: connection.opened,
    /** Asks a question; asks again after a short pause when it came too soon. */
    async ask(type: number, payload: object): Promise<Answer> {
      for (let asked = 1; ; asked += 1) {
        const answer = await answerTo(type, payload);
        const { retryAfterMs } = "failure" in answer && answer.failure.problem instanceof Upset ? answer.failure.problem : {};
        if (retryAfterMs === undefined || retryAfterMs > PAUSE_MAX_MS || asked === ASKED_MAX_COUNT) return answer;
        await link.clock.wait(retryAfterMs, link.signal);
      }
    },
    /** The prices that have come. @throws what ends the connection */
    async prices(): Promise<Received[]> {
      const received = early.splice(0);
      if (received.length > 0) return received;
      for (let text: string | undefined = await next(); text !== undefined; text = at < texts.length ? await next() : undefined) {
        const message = read(text, received);
        if (message === undefined) continue;
        if ("failure" in message) throw message.failure.problem;
        link.odd("unknown_type", text);
      }
      return received;
    },
    close: connection.close,
  };
}
