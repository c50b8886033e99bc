import { DAY_S, HOUR_S } from "#lib/units";

/** Every number the service promises. Names end in the unit. */

export const KLINES_DEFAULT_LIMIT_ROWS = 500;
/** The same over MCP: more rows than an agent reads at once cost it context. */
export const MCP_KLINES_DEFAULT_LIMIT_ROWS = 100;
/** Pages of the docs in one answer to resources/list of MCP. */
export const MCP_RESOURCES_PER_PAGE_COUNT = 50;
/** Text of one page of the docs over MCP: some 20,000 tokens, which hosts do not cut. */
export const MCP_RESOURCE_MAX_CHARACTERS = 80_000;
/** Of a client ID metadata document, which a stranger names. */
export const CLIENT_DOCUMENT_MAX_BYTES = 16_384;
export const CLIENT_DOCUMENT_TIMEOUT_MS = 5_000;
/** One that was read is used again for so long, and so many are kept. */
export const CLIENT_DOCUMENT_KEPT_S = 300;
export const CLIENT_DOCUMENTS_KEPT_MAX_COUNT = 100;
/** Of the name that a client gives itself, and of its redirects. */
export const CLIENT_NAME_MAX_CHARACTERS = 100;
export const CLIENT_REDIRECTS_MAX_COUNT = 50;
/** Of one parameter of an agent's sign-in. */
export const OAUTH_PARAMETER_MAX_CHARACTERS = 2_000;
/** Within so many seconds a host takes its key with the code of a consent. */
export const OAUTH_CODE_LIFETIME_S = 60;
/** Pages of the docs that one search over MCP finds. */
export const MCP_FOUND_PAGES_MAX_COUNT = 10;
/** Text of a search, or a URL, that a docs tool of MCP takes. */
export const MCP_QUERY_MAX_CHARACTERS = 500;
export const KLINES_MAX_LIMIT_ROWS = 5000;
/** One rate-limit unit buys this many rows of a klines request. */
export const KLINES_ROWS_PER_COST_UNIT = 1000;
/** Stored minutes that may be read to know what showed at an instant in the past, where it differs from what shows: those of twenty years, imported twice. */
export const KLINES_AS_OF_MAX_MINUTES = 15_000_000;
/** Days of which the sandbox computes ask or mid klines for one response. */
export const SANDBOX_SIDES_MAX_DAYS = 800;
/** Ask and mid klines are made of the minutes that ended so long ago: the ticks of a minute are stored some seconds after it. */
export const KLINES_SIDES_SETTLE_S = 10;
/** An answer about an instant can change for so long: what was stored then may not be committed yet. */
export const KLINES_AS_OF_SETTLE_S = 60;
export const TICKS_DEFAULT_LIMIT_ROWS = 1_000;
export const TICKS_MAX_LIMIT_ROWS = 10_000;
/** One rate-limit unit buys this many rows of a ticks request. */
export const TICKS_PER_COST_UNIT = 1_000;
/** Ticks of one millisecond that pages can be turned within. */
export const TICKS_SAME_TIME_MAX_COUNT = 100_000;
/** A kline closes this long after its end, so that late ticks still count. */
export const KLINE_CLOSE_DELAY_MS = 2_000;

/** Files in one list; more are on its next page. */
export const FILES_MAX_COUNT = 500;
/** One rate-limit unit buys this many rows of a file, or the share of them that a range is of its bytes. */
export const FILE_ROWS_PER_COST_UNIT = 100_000;
/** Complete months of M1 klines that the sandbox has as files: the latest. */
export const SANDBOX_FILES_MONTHS_COUNT = 3;
/** Complete UTC days of ticks that the sandbox has as files. */
export const SANDBOX_FILES_DAYS_COUNT = 7;
/** Longest text that is read as the id of a file; a real one is shorter. */
export const FILE_ID_MAX_CHARACTERS = 100;

/** Days in one answer about trading hours, their default, and its sessions. */
export const HOURS_MAX_DAYS = 1_100;
export const HOURS_DEFAULT_DAYS = 14;
export const HOURS_SESSIONS_MAX_COUNT = 1_000;

/** Rows of a summary: as many as an agent reads in SUMMARY_MAX_TOKENS, which a test counts. */
export const SUMMARY_MAX_ROWS = 31;
export const SUMMARY_MAX_TOKENS = 2_000;
/** Days in one summary: ten years. */
export const SUMMARY_MAX_DAYS = 3_660;
/** A summary of so many days is made of minutes, a longer one of hours. */
export const SUMMARY_MINUTES_MAX_DAYS = 62;
/** One rate-limit unit buys a summary of this many klines, whether the market was open or not. */
export const SUMMARY_KLINES_PER_COST_UNIT = 5_000;

export const TICKERS_PER_REQUEST_MAX_COUNT = 100;
/** Targets of a conversion, its instruments, and the digits of its numbers; its amount is between these two. */
export const CONVERSION_TARGETS_MAX_COUNT = 50;
export const CONVERSION_LEGS_MAX_COUNT = 2;
export const CONVERSION_SIGNIFICANT_DIGITS = 12;
export const CONVERSION_AMOUNT_MIN = 0.000_001;
export const CONVERSION_AMOUNT_MAX = 1_000_000_000_000;
export const TICKER_MIN_CHARACTERS = 3;
export const TICKER_MAX_CHARACTERS = 20;

/** Maximum length of a request target (path and query); a longer one returns 41401. */
export const URI_MAX_BYTES = 8_192;
/** Maximum length of one query parameter: twice what the longest list of tickers with commas needs. */
export const QUERY_VALUE_MAX_CHARACTERS = 2 * TICKERS_PER_REQUEST_MAX_COUNT * (TICKER_MAX_CHARACTERS + 1);
/** Maximum number of query parameters; more return 40001. The longest list of tickers fits with a parameter for each. */
export const QUERY_PARAMETERS_MAX_COUNT = TICKERS_PER_REQUEST_MAX_COUNT + 50;
/** Maximum size of all request headers; Node answers 431 above it. */
export const HEADERS_MAX_BYTES = 65_536;
/** Maximum length of an incoming X-Request-Id. */
export const REQUEST_ID_MAX_CHARACTERS = 128;
/** Time in which a client must send its headers, and its whole request. */
export const REQUEST_HEADERS_TIMEOUT_MS = 15_000;
export const REQUEST_TIMEOUT_MS = 60_000;

/**
 * HTTP connections of one client (an IPv4 address or an IPv6 /64), of its network (an IPv4 /24 or an IPv6 /48), and of all
 * together. A stream does not count, and neither does a connection of a trusted proxy. When all have too many, the one that
 * asked for nothing for the longest time is closed.
 */
export const CONNECTIONS_CLIENT_MAX_COUNT = 1_000;
export const CONNECTIONS_NETWORK_MAX_COUNT = 2_000;
export const CONNECTIONS_MAX_COUNT = 8_000;
/**
 * Units per minute of requests without a key: of one client, of its network, and of all together; a sixth of them at
 * once. A network that rarely asks has its own share when all together asked too often.
 */
export const KEYLESS_CLIENT_PER_MINUTE_COUNT = 6_000;
export const KEYLESS_NETWORK_PER_MINUTE_COUNT = 12_000;
export const KEYLESS_PER_MINUTE_COUNT = 60_000;
/** Units of a call without a key that takes some work: metrics, readiness, API descriptions. Any other one costs one unit. */
export const KEYLESS_WORK_UNITS = 10;
/** Units of a page that has to be rendered for a reader who is not signed in. One from memory costs one unit. */
export const KEYLESS_PAGE_UNITS = 5;

/** A value in Unix seconds from here on (year 5138) is assumed to be in milliseconds and refused. */
export const UNIX_SECONDS_END = 100_000_000_000;

/** A quote older than this is stale; an instrument can override it. */
export const STALE_AFTER_DEFAULT_S = 60;
/** Grace period for the first quote after an open; an instrument can override it. */
export const OPEN_GRACE_DEFAULT_S = 300;

/** Failed authentications per minute and client address before the response is 42901. */
export const AUTH_FAILURES_PER_MINUTE_COUNT = 30;
/** The same for a network: an IPv4 /24 or an IPv6 /48. */
export const AUTH_FAILURES_NETWORK_PER_MINUTE_COUNT = 300;
/** While the database is unavailable, a key keeps working this long after it was last confirmed. */
export const KEY_TRUST_STORE_AWAY_S = 900;

/** Ticks with a time further ahead of the server clock are rejected. */
export const TICK_MAX_AHEAD_MS = 5_000;
/** Maximum real volume of a tick. */
export const TICK_VOLUME_MAX = 1_000_000_000_000;
/** Maximum size of a pushed batch of ticks. */
export const INGEST_MAX_LINES = 100_000;
export const INGEST_MAX_BYTES = 16_777_216;
export const INGEST_LINE_MAX_BYTES = 1_024;
/**
 * Pushed ticks of an account: a minute's and those at once. A push counts as at least so many ticks, because a request costs more
 * than its lines.
 */
export const INGEST_TICKS_PER_MINUTE_COUNT = 6_000_000;
export const INGEST_TICKS_BURST_COUNT = 600_000;
export const INGEST_PUSH_MIN_TICKS = 100;
/** Maximum klines in a pushed batch, and their size. */
export const INGEST_KLINES_MAX_ROWS = KLINES_MAX_LIMIT_ROWS;
export const INGEST_KLINES_MAX_BYTES = 5_242_880;
/** Pushed klines are not older than this: older ones are imported. */
export const INGEST_KLINES_MAX_AGE_DAYS = 40;
export const INGEST_KLINES_MAX_AGE_S = INGEST_KLINES_MAX_AGE_DAYS * DAY_S;
/** Ranges of missing minutes in the ingest state of a ticker. */
export const INGEST_STATE_RANGES_MAX_COUNT = 100;
/** Rejected lines listed in the response; the rest are only counted. */
export const INGEST_REJECTIONS_LISTED_COUNT = 100;

/** Maximum allowed origins of a key. */
export const KEY_ORIGINS_MAX_COUNT = 20;
/** Maximum allowed addresses and networks of a key. */
export const KEY_ADDRESSES_MAX_COUNT = 20;
/** Maximum tickers that a key is limited to. */
export const KEY_TICKERS_MAX_COUNT = 200;
export const KEY_NAME_MAX_CHARACTERS = 80;
/** Longest text of a search in the portal. */
export const SEARCH_MAX_CHARACTERS = 120;

/** Lifetime of a key that was made without an expiry being chosen. */
export const KEY_LIFETIME_DEFAULT_S = 365 * DAY_S;
/** How long before a key expires its account is alerted, once each; the first also marks the key as expiring soon. */
export const KEY_EXPIRY_WARNINGS_S = [14 * DAY_S, DAY_S] as const;
/** An account is alerted of the use of a revoked or expired key again once that key was not used for so long. */
export const KEY_REFUSAL_QUIET_S = 7 * DAY_S;

/** Grace periods to choose from when rotating a key; never past the old key's own expiry. */
export const ROTATION_GRACES = { now: 0, "1h": HOUR_S, "24h": DAY_S, "7d": 7 * DAY_S } as const;
export type RotationGrace = keyof typeof ROTATION_GRACES;

/**
 * The limits of a plan, which a key can lower for itself. Forms, tables, JSON, columns of the database, options of commands and the reference
 * follow from here. A new one is named here, in `prisma/schema.prisma` and its migration, and where it is enforced.
 */
export const PLAN_LIMITS = {
  restPerMinute: {
    field: "rest_per_minute",
    label: "REST units per minute",
    hint: "Sustained rate.",
    head: "REST / min",
    unit: "units per minute",
    ownLabel: "Units per minute",
    ofAccount: "Rate-limit units that REST calls can use in one minute.",
    ofKey: "Rate-limit units that REST calls with this key can use in one minute.",
    defaults: { demo: 60, free: 120, standard: 600, pro: 3000 },
  },
  restBurst: {
    field: "rest_burst",
    label: "REST burst",
    hint: "Units that can be used at once after a pause.",
    head: "Burst",
    unit: "units at once",
    ownLabel: "Units at once",
    ofAccount: "Rate-limit units that REST calls can use at once, before the rate per minute slows them down.",
    ofKey: "Rate-limit units that REST calls with this key can use at once.",
    defaults: { demo: 20, free: 40, standard: 120, pro: 600 },
  },
  streamConnections: {
    field: "stream_connections",
    label: "Stream connections",
    hint: "Open at the same time.",
    head: "Connections",
    unit: "streams at once",
    ownLabel: "Stream connections",
    ofAccount: "Maximum number of stream connections that are open at the same time.",
    ofKey: "Maximum number of stream connections that this key can have open at the same time.",
    defaults: { demo: 2, free: 2, standard: 5, pro: 20 },
  },
  subscriptionsPerConnection: {
    field: "subscriptions_per_connection",
    label: "Subscriptions per connection",
    hint: "Each ticker on a stream counts as one.",
    head: "Subscriptions",
    unit: "per connection",
    ownLabel: "Subscriptions per connection",
    ofAccount:
      "Maximum number of subscriptions on one stream connection. Each ticker of a stream counts as one, for klines in each timeframe.",
    ofKey: "Maximum number of subscriptions on one stream connection of this key.",
    defaults: { demo: 20, free: 50, standard: 200, pro: 1000 },
  },
} as const;
export type PlanLimitName = keyof typeof PLAN_LIMITS;
/** The name of a limit in JSON and in the database. */
export type PlanLimitField = (typeof PLAN_LIMITS)[PlanLimitName]["field"];
export type PlanLimits = { readonly [Name in PlanLimitName]: number };
export const PLAN_LIMIT_NAMES = Object.keys(PLAN_LIMITS) as PlanLimitName[];

/** A value for each limit of a plan, by name. */
export function eachLimit<Value>(make: (name: PlanLimitName, field: PlanLimitField) => Value) {
  const values = PLAN_LIMIT_NAMES.map((name) => [name, make(name, PLAN_LIMITS[name].field)]);
  return Object.fromEntries(values) as Record<PlanLimitName, Value>;
}

/** The same by field. */
export function eachLimitField<Value>(make: (name: PlanLimitName) => Value) {
  const values = PLAN_LIMIT_NAMES.map((name) => [PLAN_LIMITS[name].field, make(name)]);
  return Object.fromEntries(values) as Record<PlanLimitField, Value>;
}

/** Largest limit of a plan or a key: larger than any real one, and small enough that sums stay exact. */
export const PLAN_LIMIT_MAX = 1_000_000_000;

const defaultsOf = (plan: keyof (typeof PLAN_LIMITS)[PlanLimitName]["defaults"]): PlanLimits =>
  eachLimit((name) => PLAN_LIMITS[name].defaults[plan]);

/** How the detail of a request begins that was refused by the burst limit, while units of the minute were left. */
export const BURST_REFUSED = "The burst limit of";

/** Default plans, written to the database when it is created; an operator can edit them there. */
export const PLAN_DEFAULTS = {
  demo: defaultsOf("demo"),
  free: defaultsOf("free"),
  standard: defaultsOf("standard"),
  pro: defaultsOf("pro"),
};

/** Longest history that a plan can be limited to. */
export const HISTORY_DAYS_MAX = 36_500;
/** Longest text of a plan's price. */
export const PLAN_PRICE_MAX_CHARACTERS = 120;
/** Shares of a month's quota of which the owner of an account is told, once a month each. */
export const MONTH_WARNING_PERCENTS = [80, 100] as const;
/** A month is closed so long after its end, because usage is written after the call. */
export const MONTH_CLOSE_DELAY_S = HOUR_S;

/**
 * Days of the sandbox's minutes that each node computes per minute for all users of the demo key together. What has been
 * computed before is free, and no other key has this limit.
 */
export const DEMO_COMPUTED_DAYS_PER_MINUTE_COUNT = 6_000;

/** Maximum tickers in a subscribe or unsubscribe message. */
export const STREAM_TICKERS_PER_MESSAGE_MAX_COUNT = 100;
/** Maximum size of an incoming message. */
export const STREAM_MESSAGE_MAX_BYTES = 16_384;
/** Incoming messages per second, and in a burst. Messages above it are refused with 42901 and not parsed. */
export const STREAM_MESSAGES_PER_SECOND_COUNT = 5;
export const STREAM_MESSAGES_BURST_COUNT = 20;
/** Refused messages that can wait for an answer before the connection is closed with 4029. */
export const STREAM_MESSAGES_EXCESS_MAX_COUNT = 20;
/**
 * Messages of a connection whose key may push ticks: so many a second, and in a burst. Each pushes at most so many ticks, and at
 * most so many ticks wait for their ack.
 */
export const STREAM_INGEST_MESSAGES_PER_SECOND_COUNT = 2_000;
export const STREAM_INGEST_MESSAGES_BURST_COUNT = 4_000;
export const STREAM_INGEST_TICKS_PER_MESSAGE_MAX_COUNT = 100;
export const STREAM_INGEST_UNACKED_MAX_TICKS = 10_000;
/** Invalid messages in a row before the connection is closed with 4400. */
export const STREAM_UNREADABLE_MAX_COUNT = 10;
/** Maximum length of a message id, which is returned unchanged. */
export const STREAM_MESSAGE_ID_MAX_CHARACTERS = 64;
/** Time in which a new WebSocket must send its first subscribe. */
export const STREAM_FIRST_SUBSCRIBE_TIMEOUT_S = 10;
export const STREAM_HEARTBEAT_INTERVAL_S = 15;
/** Interval of protocol pings, and the time without a pong after which a connection is closed. */
export const STREAM_PING_INTERVAL_S = 20;
export const STREAM_PONG_TIMEOUT_S = 60;
/** Queued bytes above which quotes, snapshots and open klines are conflated to the newest of each subscription. */
export const STREAM_QUEUE_CONFLATE_BYTES = 1_048_576;
/** Queued bytes that cannot be conflated (closed klines, acks, status) above which a reader counts as slow immediately. */
export const STREAM_QUEUE_MAX_BYTES = 4_194_304;
/** Time without queue progress after which a reader is closed with 4008. */
export const STREAM_NO_PROGRESS_TIMEOUT_S = 10;
/** Klines of each series that are sent as corrections after one change of stored history: the newest. */
export const STREAM_CORRECTIONS_MAX_RECORDS = 100;
/** What can be resumed of each subscription: at most this many records, none older than this. */
export const STREAM_RESUME_MAX_RECORDS = 1_000;
export const STREAM_RESUME_MAX_AGE_S = 300;
/** Maximum records replayed for one subscribe, over all its tickers; the remaining tickers get a snapshot. */
export const STREAM_REPLAY_MAX_RECORDS = 10_000;
/** Lifetime of a ticket, which opens one connection. */
export const STREAM_TICKET_LIFETIME_S = 60;
/** Handshakes per account and minute, and in a burst, in addition to an allowance for each connection of its plan. */
export const STREAM_HANDSHAKES_PER_MINUTE_COUNT = 60;
export const STREAM_HANDSHAKES_BURST_COUNT = 20;
/**
 * Socket.IO connections that have not been admitted yet: of one client, of its network (an IPv4 /24 or an IPv6 /48), and of all
 * together. Each is closed STREAM_FIRST_SUBSCRIBE_TIMEOUT_S after it opened.
 */
export const SOCKET_IO_OPENING_CLIENT_MAX_COUNT = 50;
export const SOCKET_IO_OPENING_NETWORK_MAX_COUNT = 200;
export const SOCKET_IO_OPENING_MAX_COUNT = 2_000;
/** Maximum time until a revocation, an expiry or a withdrawn permission reaches open connections. */
export const STREAM_REVOCATION_MAX_MS = 1_000;

/** Links of an account, and calls of one link: in a minute, and at once. */
export const LINKS_PER_ACCOUNT_MAX_COUNT = 50;
export const LINK_CALLS_PER_MINUTE_COUNT = 10;
export const LINK_CALLS_BURST_COUNT = 10;
/** Longest time until a link expires: a year and a day, for one that is to end with the day. */
export const LINK_LIFETIME_MAX_S = 366 * DAY_S;
export const LINK_NAME_MAX_CHARACTERS = KEY_NAME_MAX_CHARACTERS;

/** Webhooks of an account, and of all accounts together. */
export const WEBHOOKS_PER_ACCOUNT_MAX_COUNT = 3;
export const WEBHOOKS_MAX_COUNT = 1_000;
export const WEBHOOK_URL_MAX_CHARACTERS = 2_048;
/** Time in which a receiver must answer; the body of its answer is not read. */
export const WEBHOOK_TIMEOUT_MS = 10_000;
/** Waits before the second and each further attempt to deliver an event. After the last one the delivery has failed. */
export const WEBHOOK_RETRY_DELAYS_S = [5, 300, 1_800, 2 * HOUR_S, 5 * HOUR_S] as const;
/** Failed deliveries in a row after which a webhook is paused. */
export const WEBHOOK_FAILURES_MAX_COUNT = 3;
/** Deliveries kept of each webhook, the newest; one that still waits beyond it is dropped. */
export const WEBHOOK_DELIVERIES_MAX_COUNT = 20;
/** Deliveries that a node sends at once. */
export const WEBHOOK_SENDING_MAX_COUNT = 10;
/** A change of an incident that is noticed later than this is not sent. */
export const WEBHOOK_EVENT_MAX_AGE_S = HOUR_S;
