import { randomBytes } from "node:crypto";
import { z } from "zod";
import { createSignedTokens, derivedKey } from "#lib/access/signed-token";
import type { Clock } from "#lib/clock";
import { ERRORS, type ErrorId } from "#lib/contract/errors";
import { IngestReceipt } from "#lib/contract/ingest";
import { KlineReceipt, REPLACES } from "#lib/contract/ingest-klines";
import { INGEST_REJECTIONS_LISTED_COUNT, KEY_TICKERS_MAX_COUNT, TICKER_MAX_CHARACTERS } from "#lib/contract/limits";
import { Ticker, VENUES, type Venue } from "#lib/contract/primitives";
import { Fault } from "#lib/fault";
import { requestIdOf } from "#lib/http/request-id";
import { failureOf, jsonHeaders, successBody, toResponse } from "#lib/http/respond";
import type { Leader, Outcome } from "#lib/market/ports";
import type { RunningMarket } from "#server/market/market";
import { postTo } from "./post-to";
import { openBody, sealBody } from "./sealed-body";

/** Where a node accepts ticks and klines that were pushed to another one. */
export const FORWARDED_TICKS_PATH = "/internal/ticks";
/** From the signature to the beginning of the request; clocks of nodes differ by less. */
const PASS_LIFETIME_MS = 60_000;
/** Most passes that a node remembers as used; past it, more pushes are refused until older passes expire. */
const USED_MAX_COUNT = 100_000;
const PASS_ID_BYTES = 16;
/** A pass that names as many tickers as a key may have, each in quotes and with a comma, in base64. */
const PASS_MAX_CHARACTERS = 600 + Math.ceil((KEY_TICKERS_MAX_COUNT * (TICKER_MAX_CHARACTERS + 3) * 4) / 3);
/** A request that takes longer fails, and the client sends it again. */
const FORWARD_MAX_MS = 30_000;
const RETRY_AFTER_S = 1;

const Pass = z.strictObject({
  venue: z.enum(VENUES),
  until: z.int(),
  /** Used once; the body is sealed with it. */
  id: z.string(),
  /** The only tickers that are accepted; absent: all. An earlier release refuses a pass that has them. */
  tickers: z.array(Ticker).min(1).max(KEY_TICKERS_MAX_COUNT).optional(),
  /** Present for klines; absent: ticks. An earlier release refuses a pass that has it. */
  klines: z.strictObject({ replace: z.enum(REPLACES), keyId: z.string().max(64), label: z.string().max(64) }).optional(),
});
type Pass = z.infer<typeof Pass>;
const successOf = <Data extends z.ZodType>(data: Data) => z.object({ code: z.literal(0), data });
const TickSuccess = successOf(IngestReceipt);
const KlineSuccess = successOf(KlineReceipt);
const Failure = z.object({
  message: z.string(),
  data: z.object({ detail: z.string(), max: z.number(), retry_after: z.number(), parameter: z.string() }).partial(),
});

/** What a key may push. */
interface Pushing {
  readonly venue: Venue;
  /** None: all. */
  readonly tickers: readonly string[];
}

/** Sends what is pushed from the process that received it to the one that leads the venue. */
export interface TickForwarder {
  /**
   * The leader of a venue in another process.
   * @param address of that process; undefined while it is not known. Its calls throw as that process does, and Fault
   * service_unavailable when there is none or it does not answer
   */
  leaderAt(venue: Venue, address: () => string | undefined): Leader;
  /** Answers a request that another process sent. */
  answer(request: Request): Promise<Response>;
}

function isErrorId(text: string): text is ErrorId {
  return Object.hasOwn(ERRORS, text);
}

function elsewhere(): Fault {
  const detail = "No node takes the ticks of this venue right now.";
  return new Fault("service_unavailable", { detail, retry_after: RETRY_AFTER_S });
}

async function* bodyOf(text: string): AsyncGenerator<Uint8Array> {
  yield new TextEncoder().encode(text);
}

/** @throws Fault as the other node reported it */
function fail(answer: unknown): never {
  const failure = Failure.safeParse(answer);
  if (!failure.success || !isErrorId(failure.data.message)) throw elsewhere();
  // A rejected pass is not the client's fault.
  if (failure.data.message === "unauthorized") throw elsewhere();
  const { detail, max, retry_after, parameter } = failure.data.data;
  throw new Fault(failure.data.message, {
    ...(detail !== undefined && { detail }),
    ...(max !== undefined && { max }),
    ...(retry_after !== undefined && { retry_after }),
    ...(parameter !== undefined && { parameter }),
  });
}

interface TickForwarderOptions {
  /** The installation's secret, with which nodes authenticate each other. */
  secret: string;
  markets: () => Readonly<Record<Venue, Pick<RunningMarket, "leading">>> | undefined;
  clock: Clock;
}

/** Makes both sides: the sender, and the endpoint that receives. */
export function createTickForwarder({ secret, markets, clock }: TickForwarderOptions): TickForwarder {
  const passes = createSignedTokens({
    secret,
    purpose: "pushed ticks",
    prefix: "sw_node_",
    claims: Pass,
    maxCharacters: PASS_MAX_CHARACTERS,
  });

  const key = derivedKey(secret, "body of pushed ticks");
  /** When each used pass expires; the order is that of use, and so nearly that of expiry. */
  const used = new Map<string, number>();

  /** @throws Fault unauthorized for a pass that was used before; service_unavailable when too many were */
  function spend({ id, until }: Pass): void {
    const nowMs = clock.now();
    for (const [old, expiry] of used) {
      if (expiry > nowMs) break;
      used.delete(old);
    }
    if (used.has(id)) throw new Fault("unauthorized");
    if (used.size >= USED_MAX_COUNT) throw elsewhere();
    used.set(id, until);
  }

  async function take(request: Request): Promise<IngestReceipt | KlineReceipt> {
    const pass = passes.read(request.headers.get("authorization")?.replace(/^Bearer /, "") ?? "");
    const leader = pass && markets()?.[pass.venue].leading();
    if (pass === undefined || pass.until <= clock.now()) throw new Fault("unauthorized");
    const { klines, tickers = [] } = pass;
    // Never forwarded twice: two nodes that take each other for the holder would loop forever.
    if (!leader) throw elsewhere();
    spend(pass);
    const body = openBody(request.body, { key, id: pass.id });
    return klines ? leader.takeKlines(body, { ...klines, tickers }) : leader.takeTicks(body, tickers);
  }

  /** Sends a body with a pass; returns the answer. @throws Fault service_unavailable when there is none */
  async function send(
    { venue, tickers, klines }: Pushing & Pick<Pass, "klines">,
    address: string | undefined,
    body: AsyncIterable<Uint8Array> | null,
  ): Promise<unknown> {
    if (address === undefined) throw elsewhere();
    const until = clock.now() + PASS_LIFETIME_MS;
    const id = randomBytes(PASS_ID_BYTES).toString("base64url");
    const limited = tickers.length > 0 && { tickers: [...tickers] };
    const pass = passes.sign({ venue, until, id, ...limited, ...(klines && { klines }) });
    try {
      return await postTo(address + FORWARDED_TICKS_PATH, {
        headers: { authorization: `Bearer ${pass}` },
        body: sealBody(body, { key, id }),
        maxMs: FORWARD_MAX_MS,
      });
    } catch {
      throw elsewhere();
    }
  }

  return {
    leaderAt(venue, address) {
      async function takeTicks(body: AsyncIterable<Uint8Array> | null, tickers: readonly string[]) {
        const answer = await send({ venue, tickers }, address(), body);
        const success = TickSuccess.safeParse(answer);
        return success.success ? success.data.data : fail(answer);
      }
      return {
        takeTicks,
        // A receipt lists only so many rejected ticks.
        pushMaxTicks: INGEST_REJECTIONS_LISTED_COUNT,
        async push(read) {
          /** Where in `read` the tick of each line is. */
          const places = [...read.keys()].filter((at) => typeof read[at] !== "string");
          const outcomes = read.map((tick): Outcome => (typeof tick === "string" ? tick : null));
          if (places.length === 0) return outcomes;
          const lines = places.map((at) => JSON.stringify(read[at])).join("\n");
          const { received, rejected, rejections } = await takeTicks(bodyOf(lines), []);
          // A line that is not told of must not count as accepted.
          if (received !== places.length || rejected !== rejections.length) throw elsewhere();
          for (const { line, reason } of rejections) {
            const at = places[line - 1];
            if (at === undefined) throw elsewhere();
            outcomes[at] = reason;
          }
          return outcomes;
        },
        async takeKlines(body, { tickers, replace, keyId, label }) {
          const answer = await send({ venue, tickers, klines: { replace, keyId, label } }, address(), body);
          const success = KlineSuccess.safeParse(answer);
          return success.success ? success.data.data : fail(answer);
        },
      };
    },
    async answer(request) {
      const headers = jsonHeaders(requestIdOf(request.headers.get("x-request-id")));
      try {
        return toResponse({ status: 200, headers, body: successBody(await take(request)) });
      } catch (error) {
        return toResponse(failureOf(error, headers, ""));
      }
    },
  };
}
