import { afterClose, CLOSES, PROTOCOL_CLOSES } from "#lib/contract/close-codes";
import * as limits from "#lib/contract/limits";
import type { StreamClose, StreamLimit } from "./asyncapi-types";
import { markdownTable } from "./markdown-table";

const PREFIX = "STREAM_";
/** Every number of the contract that is about streams. */
type LimitName = Extract<keyof typeof limits, `${typeof PREFIX}${string}`>;

const atLeast = (description: string) => ({ within_v1: "not_lowered" as const, description });
const atMost = (description: string) => ({ within_v1: "not_raised" as const, description });

const NUMBERS: Readonly<Record<LimitName, number>> = limits;

/** What each number means; a new one does not compile before it is described here. */
const MEANINGS: Record<LimitName, Omit<StreamLimit, "value">> = {
  STREAM_TICKERS_PER_MESSAGE_MAX_COUNT: atLeast("Tickers one subscribe or unsubscribe may name."),
  STREAM_MESSAGE_MAX_BYTES: atLeast("Longest message a client may send."),
  STREAM_MESSAGES_PER_SECOND_COUNT: atLeast("Messages a client may send a second; what comes faster is refused with 42901."),
  STREAM_MESSAGES_BURST_COUNT: atLeast("Messages a client may send at once."),
  STREAM_MESSAGES_EXCESS_MAX_COUNT: atLeast(
    "Refused messages that wait for their turn before the connection is closed with 4029.",
  ),
  STREAM_UNREADABLE_MAX_COUNT: atLeast("Messages in a row that cannot be read before the connection is closed with 4400."),
  STREAM_MESSAGE_ID_MAX_CHARACTERS: atLeast("Longest `id` of a message."),
  STREAM_FIRST_SUBSCRIBE_TIMEOUT_S: atLeast("Time a fresh WebSocket has for its first subscribe."),
  STREAM_HEARTBEAT_INTERVAL_S: atMost("Time between two heartbeats."),
  STREAM_PING_INTERVAL_S: atMost("Time between two pings of the WebSocket protocol."),
  STREAM_PONG_TIMEOUT_S: atLeast("Time without a pong after which the connection is cut."),
  STREAM_QUEUE_CONFLATE_BYTES: atLeast("Queued bytes past which quotes, snapshots and open klines are merged to the newest."),
  STREAM_QUEUE_MAX_BYTES: atLeast("Queued bytes that cannot be merged, past which a reader counts as slow at once."),
  STREAM_NO_PROGRESS_TIMEOUT_S: atLeast("Time without any progress of its queue after which a reader is closed with 4008."),
  STREAM_RESUME_MAX_RECORDS: atLeast("Records of each stream of a ticker that can be resumed."),
  STREAM_RESUME_MAX_AGE_S: atLeast("Age up to which a record can be resumed."),
  STREAM_REPLAY_MAX_RECORDS: atLeast("Records one subscribe replays, all its tickers together; the rest get a snapshot."),
  STREAM_TICKET_LIFETIME_S: atLeast("Time a ticket can be used, once."),
  STREAM_HANDSHAKES_PER_MINUTE_COUNT: atLeast(
    "Handshakes an account may make a minute, beside a share for each connection of its plan.",
  ),
  STREAM_HANDSHAKES_BURST_COUNT: atLeast("Handshakes an account may make at once."),
  STREAM_REVOCATION_MAX_MS: atMost("Time until a revoked or expired key closes its open connections."),
};

/** The numbers of the stream by name, the unit last: `message_max_bytes`. */
export function streamLimits(): Record<string, StreamLimit> {
  const names = Object.keys(MEANINGS) as LimitName[];
  return Object.fromEntries(
    names.map((name) => [name.slice(PREFIX.length).toLowerCase(), { value: NUMBERS[name], ...MEANINGS[name] }]),
  );
}

/** Every way a connection may be closed on purpose, by ascending code. */
export function streamCloses(): StreamClose[] {
  const own = Object.values(CLOSES).map(({ code, reason, after, meaning }) => ({ code, reason, after, meaning }));
  const protocol = Object.entries(PROTOCOL_CLOSES).map(([text, meaning]) => ({
    code: Number(text),
    after: afterClose(Number(text)),
    meaning,
  }));
  return [...own, ...protocol].sort((a, b) => a.code - b.code);
}

/** The limits in Markdown. */
export function limitsTable(): string {
  return markdownTable(
    ["limit", "value", "meaning"],
    Object.entries(streamLimits()).map(([name, { value, description }]) => [`\`${name}\``, value, description]),
  );
}

/** The defaults of the plans in Markdown: an operator may change a plan, and `welcome` says what counts. */
export function plansTable(): string {
  return markdownTable(
    ["plan", "connections an account", "subscriptions a connection"],
    Object.entries(limits.PLAN_DEFAULTS).map(([plan, { streamConnections, subscriptionsPerConnection }]) => [
      plan,
      streamConnections,
      subscriptionsPerConnection,
    ]),
  );
}

/** The close codes in Markdown. */
export function closesTable(): string {
  return markdownTable(
    ["code", "reason", "after", "meaning"],
    streamCloses().map(({ code, reason, after, meaning }) => [code, reason === undefined ? "" : `\`${reason}\``, after, meaning]),
  );
}
