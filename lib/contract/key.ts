import { z } from "zod";
import { PLAN_DEFAULTS } from "./limits";
import { IsoInstant, Scope, Ticker, Venue } from "./primitives";

const OwnLimit = z.int().min(1).nullable();

/** What a key may do, returned to its holder. Never contains the key itself. */
export const KeyInfo = z
  .object({
    prefix: z.string().describe("First 12 characters of the key."),
    last4: z.string().describe("Last 4 characters of the key."),
    venue: Venue.describe("Venue the key belongs to."),
    scopes: z.array(Scope).describe("What the key can be used for."),
    origins: z
      .array(z.string())
      .describe("Origins that can use the key in a browser. Empty if none can; `*` stands for every origin."),
    addresses: z
      .array(z.string())
      .describe("IP addresses and networks from which the key can be used. Empty if it can be used from anywhere."),
    tickers: z
      .array(Ticker)
      .describe("Tickers that the key can request and push. Empty if it is limited by the permissions of the account alone."),
    not_before: IsoInstant.nullable().describe("When the key became valid. Null if it was valid from its creation."),
    expires_at: IsoInstant.nullable().describe(
      "When the key stops working: its expiry, or the end of its grace period after a rotation. Null if it does not expire.",
    ),
    plan: z.string().describe("Plan of the account."),
    limits: z
      .object({
        rest_per_minute: z.int().min(1).describe("Rate-limit units that REST calls can use in one minute."),
        rest_burst: z
          .int()
          .min(1)
          .describe("Rate-limit units that REST calls can use at once, before the rate per minute slows them down."),
        stream_connections: z.int().min(1).describe("Maximum number of stream connections that are open at the same time."),
        subscriptions_per_connection: z
          .int()
          .min(1)
          .describe(
            "Maximum number of subscriptions on one stream connection. Each ticker of a stream counts as one, for klines in each timeframe.",
          ),
      })
      .describe("Limits of the account, shared by all its keys. The limits of the demo key apply to each client address."),
    key_limits: z
      .object({
        rest_per_minute: OwnLimit.describe("Rate-limit units that REST calls with this key can use in one minute."),
        rest_burst: OwnLimit.describe("Rate-limit units that REST calls with this key can use at once."),
        stream_connections: OwnLimit.describe(
          "Maximum number of stream connections that this key can have open at the same time.",
        ),
        subscriptions_per_connection: OwnLimit.describe("Maximum number of subscriptions on one stream connection of this key."),
      })
      .describe("Limits of this key alone. Null where it has none. The smaller of both limits applies."),
    quota: z
      .object({
        remaining: z.int().min(0).describe("Rate-limit units left in the current minute."),
        reset_s: z.int().min(0).describe("Seconds until the minute ends and `remaining` starts again."),
      })
      .describe("What is left of this minute, as in the `RateLimit` header: the account's or the key's, whichever is less."),
  })
  .meta({ id: "KeyInfo", description: "What a key can be used for, and how much of its quota is left." });
export type KeyInfo = z.infer<typeof KeyInfo>;

const { restPerMinute, restBurst, streamConnections, subscriptionsPerConnection } = PLAN_DEFAULTS.standard;

export const keyInfoExample: KeyInfo = {
  prefix: "sw_live_4fQz",
  last4: "x7Kd",
  venue: "live",
  scopes: ["market:read", "market:stream"],
  origins: ["https://app.example.com"],
  addresses: ["203.0.113.7", "2001:db8::/32"],
  tickers: ["EURUSD", "XAUUSD"],
  not_before: null,
  expires_at: "2027-01-01T00:00:00.000Z",
  plan: "standard",
  limits: {
    rest_per_minute: restPerMinute,
    rest_burst: restBurst,
    stream_connections: streamConnections,
    subscriptions_per_connection: subscriptionsPerConnection,
  },
  key_limits: { rest_per_minute: 60, rest_burst: null, stream_connections: 1, subscriptions_per_connection: null },
  quota: { remaining: 47, reset_s: 41 },
};
