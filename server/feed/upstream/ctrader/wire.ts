import { z } from "zod";
import { SECOND_MS } from "#lib/units";
import { Refused, Upset } from "../../feed";
import type { OddReason, Received } from "../port";
import { jsonOf } from "../socket";

/** cTrader's Open API as JSON: a payload type and a payload (spotware/openapi-proto-messages, OpenApiMessages.proto). */

/** Payload types, numbered as in the enum ProtoOAPayloadType. */
export const TYPES = {
  heartbeat: 51,
  applicationAuth: 2100,
  accountAuth: 2102,
  symbolsList: 2114,
  subscribeSpots: 2127,
  spot: 2131,
  trendbars: 2137,
  error: 2142,
  tokenInvalidated: 2147,
  clientDisconnect: 2148,
  accountDisconnect: 2164,
  refreshToken: 2173,
} as const;
/** The error of the proxy in front of the Open API. */
const COMMON_ERROR_TYPE = 50;
/** Prices are integers of this part of a unit, whatever the digits of the symbol. */
export const PRICE_PARTS = 100_000;
/** A time further from the clock than this is no time: its unit is not documented. */
const TIME_MAX_DISTANCE_MS = 7 * 24 * 3_600 * SECOND_MS;
/** Pauses for errors that name none. */
const PAUSES_MS: Readonly<Record<string, number>> = {
  REQUEST_FREQUENCY_EXCEEDED: SECOND_MS,
  BLOCKED_PAYLOAD_TYPE: 5 * SECOND_MS,
  CONNECTIONS_LIMIT_EXCEEDED: 60 * SECOND_MS,
  SERVER_IS_UNDER_MAINTENANCE: 60 * SECOND_MS,
};
const PAUSE_MAX_MS = 3_600 * SECOND_MS;

const CREDENTIALS = "Check CTRADER_CLIENT_ID and CTRADER_CLIENT_SECRET.";
const ACCOUNT =
  "Check CTRADER_ACCOUNT: it is the ctidTraderAccountId of the account, not the number that cTrader shows; a live account needs CTRADER_ENVIRONMENT=live.";
const ENVIRONMENT =
  "cTrader answers so when a demo account is asked for on the live host, or the reverse. Check CTRADER_ENVIRONMENT: demo or live, as the account is.";
const TOKEN = "Check CTRADER_ACCESS_TOKEN; with CTRADER_REFRESH_TOKEN, an expired one is renewed.";
/** Errors that only the owner of the account can change, and what to look at. */
const REFUSALS: Readonly<Record<string, string>> = {
  CH_CLIENT_AUTH_FAILURE: CREDENTIALS,
  CH_OA_CLIENT_NOT_FOUND: CREDENTIALS,
  OA_AUTH_TOKEN_EXPIRED: TOKEN,
  CH_ACCESS_TOKEN_INVALID: TOKEN,
  ACCOUNT_NOT_AUTHORIZED: ACCOUNT,
  CH_CTID_TRADER_ACCOUNT_NOT_FOUND: ACCOUNT,
  RET_NO_SUCH_LOGIN: ACCOUNT,
  RET_ACCOUNT_DISABLED: ACCOUNT,
  CHANNEL_IS_BLOCKED: ACCOUNT,
  CANT_ROUTE_REQUEST: ENVIRONMENT,
};
const TOKEN_ERRORS: readonly string[] = ["OA_AUTH_TOKEN_EXPIRED", "CH_ACCESS_TOKEN_INVALID"];
const SYMBOL_ERRORS: readonly string[] = ["SYMBOL_NOT_FOUND", "UNKNOWN_SYMBOL", "ENTITY_NOT_FOUND", "INVALID_REQUEST"];

/** JSON of Protocol Buffers may write a 64-bit integer as text. */
export const integer = z
  .union([
    z.number(),
    z
      .string()
      .regex(/^\d{1,16}$/)
      .transform(Number),
  ])
  .pipe(z.number().int());

const Envelope = z.object({ payloadType: integer, payload: z.unknown().optional() });
const Spot = z.object({ symbolId: integer, bid: integer.nullish(), ask: integer.nullish(), timestamp: integer.nullish() });
const Problem = z.object({
  errorCode: z.string(),
  description: z.string().nullish(),
  retryAfter: integer.nullish(),
  maintenanceEndTimestamp: integer.nullish(),
});
const Reason = z.object({ reason: z.string().nullish() });

export const SymbolsList = z.object({
  symbol: z.array(z.object({ symbolId: integer, symbolName: z.string().nullish(), enabled: z.boolean().nullish() })),
});
export const Granted = z.object({ accessToken: z.string().min(1), refreshToken: z.string().min(1), expiresIn: integer });

/** An error that the Open API answered, and what it means for the connection. */
export interface Failure {
  readonly code: string;
  readonly problem: Refused | Upset;
  /** The access token is not valid, or no longer. */
  readonly isToken: boolean;
  /** One of the symbols of a request is not known. */
  readonly isSymbol: boolean;
}

/** What one message says. */
type Message =
  | { readonly received: Received }
  | { readonly answer: number; readonly payload: unknown }
  | { readonly failure: Failure }
  | { readonly lost: string }
  | { readonly odd: OddReason }
  | "heartbeat";

const price = (parts: number | null | undefined) => (parts == null || parts <= 0 ? null : parts / PRICE_PARTS);

function failureOf(
  { errorCode: code, description, retryAfter, maintenanceEndTimestamp }: z.infer<typeof Problem>,
  nowMs: number,
) {
  const said = `${code}${description == null ? "" : `: ${description}`}`;
  const advice = REFUSALS[code];
  // The end of a maintenance is in seconds in one message, and in milliseconds in another.
  const endMs = (maintenanceEndTimestamp ?? 0) * (maintenanceEndTimestamp != null && maintenanceEndTimestamp < 1e11 ? 1_000 : 1);
  const asked = retryAfter == null ? PAUSES_MS[code] : retryAfter * SECOND_MS;
  const pause = endMs > nowMs ? endMs - nowMs : asked;
  const retryAfterMs = pause === undefined ? undefined : Math.min(pause, PAUSE_MAX_MS);
  return {
    code,
    problem: advice === undefined ? new Upset(said, { retryAfterMs }) : new Refused(`${said}. ${advice}`),
    isToken: TOKEN_ERRORS.includes(code),
    isSymbol: SYMBOL_ERRORS.includes(code),
  };
}

/** A time in milliseconds; NaN where there is none that can be meant. */
function timeOf(timestamp: number | null | undefined, nowMs: number): number {
  return timestamp != null && Math.abs(timestamp - nowMs) <= TIME_MAX_DISTANCE_MS ? timestamp : Number.NaN;
}

/** Reads one message. A symbol is named by its id, which differs from broker to broker. */
export function readMessage(text: string, nowMs: number): Message {
  const envelope = Envelope.safeParse(jsonOf(text));
  if (!envelope.success) return { odd: "unreadable" };
  const { payloadType, payload } = envelope.data;
  switch (payloadType) {
    case TYPES.heartbeat:
      return "heartbeat";
    case TYPES.spot: {
      const spot = Spot.safeParse(payload);
      if (!spot.success) return { odd: "unreadable" };
      const { symbolId, bid, ask, timestamp } = spot.data;
      if (price(bid) === null && price(ask) === null) return { odd: "no_price" };
      return { received: { symbol: String(symbolId), timeMs: timeOf(timestamp, nowMs), bid: price(bid), ask: price(ask) } };
    }
    case TYPES.error:
    case COMMON_ERROR_TYPE: {
      const problem = Problem.safeParse(payload);
      return problem.success ? { failure: failureOf(problem.data, nowMs) } : { odd: "unreadable" };
    }
    case TYPES.tokenInvalidated:
    case TYPES.clientDisconnect:
    case TYPES.accountDisconnect: {
      const { data } = Reason.safeParse(payload);
      return { lost: data?.reason ?? `message ${payloadType}` };
    }
    default:
      return { answer: payloadType, payload };
  }
}
