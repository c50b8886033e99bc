import { randomBytes } from "node:crypto";
import { z } from "zod";
import { createSignedTokens, derivedKey } from "#lib/access/signed-token";
import type { Clock } from "#lib/clock";
import { ERRORS, type ErrorId } from "#lib/contract/errors";
import { IngestReceipt } from "#lib/contract/ingest";
import { KlineReceipt, REPLACES } from "#lib/contract/ingest-klines";
import { KEY_TICKERS_MAX_COUNT, TICKER_MAX_CHARACTERS } from "#lib/contract/limits";
import { Ticker, VENUES, type Venue } from "#lib/contract/primitives";
import { Fault } from "#lib/fault";
import { requestIdOf } from "#lib/http/request-id";
import { failureOf, jsonHeaders, successBody, toResponse } from "#lib/http/respond";
import { ingestBody } from "#lib/market/ingest";
import { ingestKlinesBody } from "#lib/market/ingest-klines";
import type { KlinePush } from "#lib/market/mending";
import type { Market } from "#lib/market/ports";
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

/** Forwards pushed ticks and klines from the node that received them to the one that holds the venue's lease. */
export interface TickForwarder {
  /**
   * Streams a request body to the node at `address`; the caller has checked the key and counted the usage.
   * @throws Fault as that node reports it; service_unavailable when there is no such node or it does not answer
   */
  forward(pushing: Pushing, address: string | undefined, body: AsyncIterable<Uint8Array> | null): Promise<IngestReceipt>;
  /** The same for klines. */
  forwardKlines(
    pushing: Pushing & KlinePush,
    address: string | undefined,
    body: AsyncIterable<Uint8Array> | null,
  ): Promise<KlineReceipt>;
  /** Answers a request that another node forwarded. */
  answer(request: Request): Promise<Response>;
}

function isErrorId(text: string): text is ErrorId {
  return Object.hasOwn(ERRORS, text);
}

function elsewhere(): Fault {
  const detail = "No node takes the ticks of this venue right now.";
  return new Fault("service_unavailable", { detail, retry_after: RETRY_AFTER_S });
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
  markets: () => Readonly<Record<Venue, Market>> | undefined;
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
    const market = pass && markets()?.[pass.venue];
    if (pass === undefined || pass.until <= clock.now()) throw new Fault("unauthorized");
    const { klines, tickers = [] } = pass;
    // Never forwarded twice: two nodes that take each other for the holder would loop forever.
    if (market === undefined || (klines ? market.mend : market.push) === undefined) throw elsewhere();
    spend(pass);
    const body = openBody(request.body, { key, id: pass.id });
    return klines ? ingestKlinesBody(body, market, { ...klines, tickers }, clock.now()) : ingestBody(body, market, tickers);
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
    async forward(pushing, address, body) {
      const answer = await send(pushing, address, body);
      const success = TickSuccess.safeParse(answer);
      return success.success ? success.data.data : fail(answer);
    },
    async forwardKlines({ venue, tickers, replace, keyId, label }, address, body) {
      const answer = await send({ venue, tickers, klines: { replace, keyId, label } }, address, body);
      const success = KlineSuccess.safeParse(answer);
      return success.success ? success.data.data : fail(answer);
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
