import { afterClose, CLOSES, PROTOCOL_CLOSES } from "#lib/contract/close-codes";
import { ERRORS } from "#lib/contract/errors";
import * as limits from "#lib/contract/limits";
import type { StreamClose, StreamLimit } from "./asyncapi-types";
import { markdownTable } from "./markdown-table";

const PREFIX = "STREAM_";
/** Every number of the contract that concerns streams. */
type LimitName = Extract<keyof typeof limits, `${typeof PREFIX}${string}`>;

const atLeast = (description: string) => ({ within_v1: "not_lowered" as const, description });
const atMost = (description: string) => ({ within_v1: "not_raised" as const, description });

const NUMBERS: Readonly<Record<LimitName, number>> = limits;

/** What each number means. A new limit does not compile until it is described here. */
const MEANINGS: Record<LimitName, Omit<StreamLimit, "value">> = {
  STREAM_TICKERS_PER_MESSAGE_MAX_COUNT: atLeast("Maximum tickers in one subscribe or unsubscribe message."),
  STREAM_MESSAGE_MAX_BYTES: atLeast("Maximum size of a client message."),
  STREAM_MESSAGES_PER_SECOND_COUNT: atLeast(
    `Messages a client may send per second. Messages over this rate are refused with ${ERRORS.rate_limited.code}.`,
  ),
  STREAM_MESSAGES_BURST_COUNT: atLeast("Messages a client may send in one burst."),
  STREAM_MESSAGES_EXCESS_MAX_COUNT: atLeast(
    `Maximum refused messages that can wait for an answer before the connection is closed with ${CLOSES.flooding.code}.`,
  ),
  STREAM_INGEST_MESSAGES_PER_SECOND_COUNT: atLeast(
    "The same for a key that may push ticks: messages it may send per second. `welcome` contains the limit in force.",
  ),
  STREAM_INGEST_MESSAGES_BURST_COUNT: atLeast("Messages such a key may send in one burst."),
  STREAM_INGEST_TICKS_PER_MESSAGE_MAX_COUNT: atLeast("Maximum ticks in one ingest message."),
  STREAM_INGEST_UNACKED_MAX_TICKS: atLeast(
    "Ticks that can wait for their ack. Messages over it are refused and must be sent again.",
  ),
  STREAM_UNREADABLE_MAX_COUNT: atLeast(
    `Invalid messages in a row before the connection is closed with ${CLOSES.protocol_abuse.code}.`,
  ),
  STREAM_MESSAGE_ID_MAX_CHARACTERS: atLeast("Maximum length of a message `id`."),
  STREAM_FIRST_SUBSCRIBE_TIMEOUT_S: atLeast("Time in which a new WebSocket must send its first subscribe."),
  STREAM_HEARTBEAT_INTERVAL_S: atMost("Interval between heartbeats."),
  STREAM_PING_INTERVAL_S: atMost("Interval between WebSocket protocol pings."),
  STREAM_PONG_TIMEOUT_S: atLeast("Time without a pong after which the connection is closed."),
  STREAM_QUEUE_CONFLATE_BYTES: atLeast(
    "Queued bytes above which quotes, snapshots and open klines are merged into the newest one.",
  ),
  STREAM_QUEUE_MAX_BYTES: atLeast(
    `Queued bytes that cannot be merged, above which the connection is closed with ${CLOSES.slow_consumer.code} immediately.`,
  ),
  STREAM_NO_PROGRESS_TIMEOUT_S: atLeast(
    `Time without queue progress after which the connection is closed with ${CLOSES.slow_consumer.code}.`,
  ),
  STREAM_CORRECTIONS_MAX_RECORDS: atMost(
    "Closed klines of each ticker and timeframe that are sent after one change of stored minutes.",
  ),
  STREAM_RESUME_MAX_RECORDS: atLeast("Records of each subscription that can be replayed with `resume`."),
  STREAM_RESUME_MAX_AGE_S: atLeast("Maximum age of a record that can be replayed with `resume`."),
  STREAM_REPLAY_MAX_RECORDS: atLeast(
    "Maximum records replayed for one subscribe, over all its tickers. The remaining tickers get a snapshot.",
  ),
  STREAM_TICKET_LIFETIME_S: atLeast("Lifetime of a ticket, which can be used once."),
  STREAM_HANDSHAKES_PER_MINUTE_COUNT: atLeast(
    "Handshakes per account and minute, in addition to an allowance for each connection of its plan.",
  ),
  STREAM_HANDSHAKES_BURST_COUNT: atLeast("Handshakes an account may make in one burst."),
  STREAM_REVOCATION_MAX_MS: atMost("Maximum time until open connections of a revoked or expired key are closed."),
};

/** The stream limits by name, ending in the unit: `message_max_bytes`. */
export function streamLimits(): Record<string, StreamLimit> {
  const names = Object.keys(MEANINGS) as LimitName[];
  return Object.fromEntries(
    names.map((name) => [name.slice(PREFIX.length).toLowerCase(), { value: NUMBERS[name], ...MEANINGS[name] }]),
  );
}

/** Every close code the server uses, in ascending order. */
export function streamCloses(): StreamClose[] {
  const own = Object.values(CLOSES).map(({ code, reason, after, meaning }) => ({ code, reason, after, meaning }));
  const protocol = Object.entries(PROTOCOL_CLOSES).map(([text, meaning]) => ({
    code: Number(text),
    after: afterClose(Number(text)),
    meaning,
  }));
  return [...own, ...protocol].sort((a, b) => a.code - b.code);
}

/** The limits as a Markdown table. */
export function limitsTable(): string {
  return markdownTable(
    ["limit", "value", "meaning"],
    Object.entries(streamLimits()).map(([name, { value, description }]) => [`\`${name}\``, value, description]),
  );
}

/** The default plan limits as a Markdown table. An operator can change a plan; `welcome` contains the limits in force. */
export function plansTable(): string {
  return markdownTable(
    ["plan", "connections per account", "subscriptions per connection"],
    Object.entries(limits.PLAN_DEFAULTS).map(([plan, { streamConnections, subscriptionsPerConnection }]) => [
      plan,
      streamConnections,
      subscriptionsPerConnection,
    ]),
  );
}

/** Introduces the close codes table. */
export const CLOSES_INTRODUCTION =
  "`retry`: reconnect with jitter. `terminal`: do not reconnect until the user fixes the cause. Reconnect after any code that is not listed.";

/** The close codes as a Markdown table. */
export function closesTable(): string {
  return markdownTable(
    ["code", "reason", "after", "meaning"],
    streamCloses().map(({ code, reason, after, meaning }) => [code, reason === undefined ? "" : `\`${reason}\``, after, meaning]),
  );
}
