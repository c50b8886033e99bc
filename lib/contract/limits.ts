import { DAY_S, HOUR_S } from "#lib/units";

/** Every number the service promises. The unit is the last word of the name. */

export const KLINES_DEFAULT_LIMIT_ROWS = 500;
export const KLINES_MAX_LIMIT_ROWS = 5000;
/** One rate-limit unit buys this many rows of a klines request. */
export const KLINES_ROWS_PER_COST_UNIT = 1000;
/** A kline closes on the clock this long after its end, so that late ticks still count. */
export const KLINE_CLOSE_DELAY_MS = 2_000;

export const TICKERS_PER_REQUEST_MAX_COUNT = 100;
export const TICKER_MIN_CHARACTERS = 3;
export const TICKER_MAX_CHARACTERS = 20;

/** Longest request target (path and query) that is read; a longer one is 41401. */
export const URI_MAX_BYTES = 8_192;
/** Longest value of one query parameter: 100 tickers of 20 characters and their commas fit twice. */
export const QUERY_VALUE_MAX_CHARACTERS = 4_200;
/** Parameters of one query that are looked at; a longer list is refused with 40001. */
export const QUERY_PARAMETERS_MAX_COUNT = 50;
/** All request headers together; Node answers 431 past it. */
export const HEADERS_MAX_BYTES = 65_536;
/** A well-formed incoming X-Request-Id is kept up to this length. */
export const REQUEST_ID_MAX_CHARACTERS = 128;
/** Time a client has to send its headers, then its whole request. */
export const REQUEST_HEADERS_TIMEOUT_MS = 15_000;
export const REQUEST_TIMEOUT_MS = 60_000;

/** Unix seconds at or past this are taken for milliseconds and refused with that hint (year 5138). */
export const UNIX_SECONDS_END = 100_000_000_000;

/** A quote older than this is stale, unless its instrument says otherwise. */
export const STALE_AFTER_DEFAULT_S = 60;
/** Time after an open in which a first quote is awaited without a warning, unless its instrument says otherwise. */
export const OPEN_GRACE_DEFAULT_S = 300;

/** Failed authentications one client address may make a minute before it is answered 42901. */
export const AUTH_FAILURES_PER_MINUTE_COUNT = 30;
/** A key that the database confirmed goes on working this long after, should the database be away then. */
export const KEY_TRUST_STORE_AWAY_S = 900;

/** Ticks are refused when stamped further ahead of this server's clock. */
export const TICK_MAX_AHEAD_MS = 5_000;
/** One pushed batch of ticks. */
export const INGEST_MAX_LINES = 100_000;
export const INGEST_MAX_BYTES = 16_777_216;
export const INGEST_LINE_MAX_BYTES = 1_024;
/** Rejected lines that are listed one by one in the answer; the rest are only counted. */
export const INGEST_REJECTIONS_LISTED_COUNT = 100;

/** Allowed origins one key may list. */
export const KEY_ORIGINS_MAX_COUNT = 20;
export const KEY_NAME_MAX_CHARACTERS = 80;

/** Grace choices when a key is rotated; never past the old key's own expiry. */
export const ROTATION_GRACES = { now: 0, "1h": HOUR_S, "24h": DAY_S, "7d": 7 * DAY_S } as const;
export type RotationGrace = keyof typeof ROTATION_GRACES;

/** One plan: REST requests a minute and at once, stream connections an account, subscriptions a connection. */
export interface PlanLimits {
  readonly restPerMinute: number;
  readonly restBurst: number;
  readonly streamConnections: number;
  readonly subscriptionsPerConnection: number;
}

/** Defaults the database is seeded with; an operator can edit them there. */
export const PLAN_DEFAULTS = {
  demo: { restPerMinute: 60, restBurst: 20, streamConnections: 2, subscriptionsPerConnection: 20 },
  free: { restPerMinute: 120, restBurst: 40, streamConnections: 2, subscriptionsPerConnection: 50 },
  standard: { restPerMinute: 600, restBurst: 120, streamConnections: 5, subscriptionsPerConnection: 200 },
  pro: { restPerMinute: 3000, restBurst: 600, streamConnections: 20, subscriptionsPerConnection: 1000 },
} as const satisfies Record<string, PlanLimits>;

/** Tickers one subscribe or unsubscribe message names. */
export const STREAM_TICKERS_PER_MESSAGE_MAX_COUNT = 100;
/** One incoming message. */
export const STREAM_MESSAGE_MAX_BYTES = 16_384;
/** Incoming messages a second, and at once. What comes faster is refused with 42901 and not read. */
export const STREAM_MESSAGES_PER_SECOND_COUNT = 5;
export const STREAM_MESSAGES_BURST_COUNT = 20;
/** Refused messages that wait for their turn at once before the connection is closed with 4029. */
export const STREAM_MESSAGES_EXCESS_MAX_COUNT = 20;
/** Messages in a row that cannot be read before the connection is closed with 4400. */
export const STREAM_UNREADABLE_MAX_COUNT = 10;
/** Longest id a client may give a message; it comes back as it is. */
export const STREAM_MESSAGE_ID_MAX_CHARACTERS = 64;
/** Time a fresh connection of the raw socket has for its first subscribe. */
export const STREAM_FIRST_SUBSCRIBE_TIMEOUT_S = 10;
export const STREAM_HEARTBEAT_INTERVAL_S = 15;
/** Protocol pings, and the time without a pong after which a connection is cut. */
export const STREAM_PING_INTERVAL_S = 20;
export const STREAM_PONG_TIMEOUT_S = 60;
/** Queued bytes past which quotes, snapshots and open klines are conflated to the newest of each subscription. */
export const STREAM_QUEUE_CONFLATE_BYTES = 1_048_576;
/** Queued bytes that cannot be conflated (closed klines, acks, status) past which a reader counts as slow at once. */
export const STREAM_QUEUE_MAX_BYTES = 4_194_304;
/** Time without any progress of its queue after which a reader is closed with 4008. */
export const STREAM_NO_PROGRESS_TIMEOUT_S = 10;
/** What can be resumed of each stream of a ticker: at most so many records, none older. */
export const STREAM_RESUME_MAX_RECORDS = 1_000;
export const STREAM_RESUME_MAX_AGE_S = 300;
/** Records one subscribe replays, all its tickers together; tickers past it get a snapshot. */
export const STREAM_REPLAY_MAX_RECORDS = 10_000;
/** A ticket opens one connection, this long. */
export const STREAM_TICKET_LIFETIME_S = 60;
/** Handshakes of one account a minute, and at once, on top of a share for each connection its plan allows. */
export const STREAM_HANDSHAKES_PER_MINUTE_COUNT = 60;
export const STREAM_HANDSHAKES_BURST_COUNT = 20;
/** A revocation, expiry or withdrawn permission reaches open connections within this. */
export const STREAM_REVOCATION_MAX_MS = 1_000;
