import { z } from "zod";
import { eachLimitField, PLAN_DEFAULTS, PLAN_LIMITS } from "#lib/contract/limits";
import { operation } from "#lib/contract/operation";
import { KEY_ERRORS } from "#lib/contract/operation-errors";
import { IsoInstant, Scope, Ticker, Venue } from "#lib/contract/primitives";

/** What a key may do, returned to its holder. Never contains the key itself. */
export const KeyInfo = z
  .object({
    prefix: z.string().describe("First characters of the key, four of them random."),
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
      .object(eachLimitField((name) => z.int().min(1).describe(PLAN_LIMITS[name].ofAccount)))
      .describe("Limits of the account, shared by all its keys. The limits of the demo key apply to each client IP address."),
    key_limits: z
      .object(eachLimitField((name) => z.int().min(1).nullable().describe(PLAN_LIMITS[name].ofKey)))
      .describe("Limits of this key alone. Null where it has none. The smaller of both limits applies."),
    quota: z
      .object({
        remaining: z.int().min(0).describe("Rate-limit units left in the current minute."),
        reset_s: z.int().min(0).describe("Seconds until the minute ends and `remaining` starts again."),
      })
      .describe("What is left of this minute, as in the `RateLimit` header: the account's or the key's, whichever is less."),
    month: z
      .object({
        units: z.int().min(1).describe("Units that the plan has for each UTC month."),
        hard: z.boolean().describe("True if calls beyond it are refused; otherwise they are only counted."),
        used: z.int().min(0).describe("Units used so far, by all keys of the account."),
        remaining: z.int().min(0).describe("Units left."),
        resets_at: IsoInstant.describe("When the next month begins."),
      })
      .nullable()
      .describe("The account's quota of the current UTC month, on which other nodes are a few seconds behind. Null without one."),
    history_days: z
      .int()
      .min(1)
      .nullable()
      .describe("Whole UTC days of history, before today, that the plan includes. Null for all of it."),
    streams: z.boolean().describe("Whether the plan includes streams."),
  })
  .meta({ id: "KeyInfo", description: "What a key can be used for, and how much of its quota is left." });
export type KeyInfo = z.infer<typeof KeyInfo>;

const keyInfoExample: KeyInfo = {
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
  limits: eachLimitField((name) => PLAN_DEFAULTS.standard[name]),
  key_limits: { ...eachLimitField(() => null), rest_per_minute: 60, stream_connections: 1 },
  quota: { remaining: 47, reset_s: 41 },
  month: { units: 1_000_000, hard: true, used: 412_345, remaining: 587_655, resets_at: "2027-01-01T00:00:00.000Z" },
  history_days: 365,
  streams: true,
};

export const key = operation({
  id: "key",
  method: "GET",
  path: "/api/v1/key",
  scope: "any",
  summary: "Your key",
  description:
    "Returns what the key of the request can be used for, and what is left of its quota. Works with every key. The response never contains the key itself.",
  query: {},
  data: KeyInfo,
  example: keyInfoExample,
  errors: ["invalid_parameter", ...KEY_ERRORS],
  cost: () => 0,
  mcp: {
    tool: false,
    because: "It tells about a key, not about the market. An agent learns of a limit from the error that names it.",
  },
});
