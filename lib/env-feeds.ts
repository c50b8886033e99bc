import { z } from "zod";
import { FILTER_REASONS } from "./contract/ingest";
import { INGEST_KLINES_MAX_AGE_DAYS } from "./contract/limits";
import { PROVIDERS, type ProviderField } from "./contract/portal-feeds";
import { InstantParameter } from "./contract/primitives";

/** Providers that the live venue can connect to, and the settings that each needs. */
export const PROVIDER_SETTINGS = {
  oanda: ["OANDA_TOKEN", "OANDA_ACCOUNT"],
  ctrader: ["CTRADER_CLIENT_ID", "CTRADER_CLIENT_SECRET", "CTRADER_ACCESS_TOKEN", "CTRADER_ACCOUNT"],
  fix: ["FIX_HOST", "FIX_PORT", "FIX_SENDER", "FIX_TARGET"],
  massive: ["MASSIVE_KEY"],
  tiingo: ["TIINGO_TOKEN"],
  twelvedata: ["TWELVEDATA_KEY"],
  tradermade: ["TRADERMADE_KEY"],
} as const satisfies Readonly<Record<ProviderName, readonly string[]>>;
export type ProviderName = (typeof PROVIDERS)[number];

/** Settings that may also be read from the file that NAME_FILE names. */
export const SECRET_SETTINGS = [
  "DATABASE_URL",
  "DATABASE_DIRECT_URL",
  "REDIS_URL",
  "NEXTAUTH_SECRET",
  "BACKUP_PASSPHRASE",
  "SMTP_URL",
  "METRICS_TOKEN",
  "AWS_SECRET_ACCESS_KEY",
  "GITHUB_SECRET",
  "GOOGLE_SECRET",
  "OIDC_CLIENT_SECRET",
  "OANDA_TOKEN",
  "CTRADER_CLIENT_SECRET",
  "CTRADER_ACCESS_TOKEN",
  "CTRADER_REFRESH_TOKEN",
  "FIX_PASSWORD",
  "MASSIVE_KEY",
  "TIINGO_TOKEN",
  "TWELVEDATA_KEY",
  "TRADERMADE_KEY",
] as const;

/** Comma-separated words. */
export const wordList = z.string().transform((text) =>
  text
    .split(",")
    .map((word) => word.trim())
    .filter(Boolean),
);

/** An instant, Unix milliseconds: a day in UTC, or ISO 8601 with an offset. */
export const instant = z
  .string()
  .transform((text) => (/^\d{4}-\d\d-\d\d$/.test(text) ? `${text}T00:00:00Z` : text))
  .pipe(InstantParameter);

const symbols = wordList.transform((entries, context) => {
  const chosen: { feed: string; ticker: string; symbol: string }[] = [];
  for (const entry of entries) {
    const [, feed, ticker, symbol] = /^([a-z0-9-]+):([A-Z0-9]{3,20})=(\S{1,64})$/.exec(entry) ?? [];
    if (feed === undefined || ticker === undefined || symbol === undefined)
      context.addIssue({ code: "custom", message: "must be entries feed:TICKER=SYMBOL, for example oanda:XAUUSD=XAU_USD." });
    else chosen.push({ feed, ticker, symbol });
  }
  return chosen;
});

const tickers = wordList.transform((entries, context) => {
  const chosen: { feed: string; ticker: string }[] = [];
  for (const entry of entries) {
    const [, feed, ticker] = /^([a-z0-9-]+):([A-Z0-9]{3,20})$/.exec(entry) ?? [];
    if (feed === undefined || ticker === undefined)
      context.addIssue({ code: "custom", message: "must be entries feed:TICKER, for example twelvedata:EURUSD." });
    else chosen.push({ feed, ticker });
  }
  return chosen;
});

const FEED_NAMES = ["none", "push", "replay", ...PROVIDERS] as const;
type FeedName = (typeof FEED_NAMES)[number];
/** They are the only source of a venue: prices that do not come from a market now. */
const ALONE: readonly FeedName[] = ["none", "replay"];

const feeds = wordList
  .pipe(z.array(z.enum(FEED_NAMES, { error: `must be a comma-separated list of ${FEED_NAMES.join(", ")}.` })))
  .refine((names) => names.length > 0, "must name a source.")
  .refine((names) => new Set(names).size === names.length, "must name each source once.")
  .refine((names) => names.length === 1 || !names.some((name) => ALONE.includes(name)), {
    error: `must name ${ALONE.join(" or ")} alone.`,
  });

/** Addresses of proxies, by provider; under the empty name that of the only provider. */
const urls = wordList.transform((entries, context) => {
  const found: { feed: string; url: string }[] = [];
  for (const entry of entries) {
    const [, feed = "", url = ""] = /^(?:([a-z0-9-]+)=)?(.+)$/.exec(entry) ?? [];
    const known = feed === "" ? entries.length === 1 : PROVIDERS.some((name) => name === feed);
    if (known && /^(https?|wss?):$/.test(URL.parse(url)?.protocol ?? "") && !found.some((one) => one.feed === feed))
      found.push({ feed, url });
    else
      context.addIssue({
        code: "custom",
        message: "must be an http://, https://, ws:// or wss:// URL, with several providers one for each, as oanda=https://….",
      });
  }
  return found;
});

const reasons = wordList.pipe(
  z.array(z.enum(FILTER_REASONS, { error: `must be a comma-separated list of ${FILTER_REASONS.join(", ")}.` })),
);

const secret = (name: (typeof SECRET_SETTINGS)[number], what: string) =>
  z.string().min(1).optional().describe(`${what}. Or set ${name}_FILE to the path of a file that holds it.`);

/** The settings of the live venue's provider. */
export const feedSettings = {
  LIVE_FEED: feeds
    .prefault("none")
    .describe(
      `Data source of the live venue: none, push (POST /api/v1/ingest/ticks), replay (recorded tick files) or a provider: ${PROVIDERS.join(", ")}. Several providers, push among them, as a comma-separated list: for each instrument, the first that is well speaks.`,
    ),
  FEED_SYMBOLS: symbols
    .default([])
    .describe("Comma-separated symbols of a provider for tickers that it names in its own way, each as oanda:XAUUSD=XAU_USD."),
  FEED_TICKERS: tickers
    .default([])
    .describe(
      "Comma-separated tickers that a provider is asked for, each as twelvedata:EURUSD, for a plan that carries a few. A provider without an entry is asked for all.",
    ),
  TICK_FILTERS_OFF: reasons
    .default([])
    .describe(`Comma-separated reasons for which ticks of the live venue are not held back: ${FILTER_REASONS.join(", ")}.`),
  FEED_RECORD: z
    .enum(["on", "off"])
    .default("on")
    .describe("on keeps every tick of the live venue, off keeps none; ticks of LIVE_FEED=replay are never kept."),
  TICKS_MAX_DAYS: z.coerce
    .number()
    .int()
    .min(1)
    .max(36_500)
    .optional()
    .describe("Days for which ticks are kept, 1 to 36500. Unset: without end."),
  TICKS_MAX_MB: z.coerce
    .number()
    .int()
    .min(1)
    .max(10_485_760)
    .optional()
    .describe("Size of all stored ticks at most, in megabytes; the oldest days are deleted first. Unset: without a bound."),
  FEED_REPAIR_DAYS: z.coerce
    .number()
    .int()
    .min(0)
    .max(INGEST_KLINES_MAX_AGE_DAYS)
    .default(30)
    .describe(
      `Days before a start of which missing minutes are fetched from a provider that has history, 0 to ${INGEST_KLINES_MAX_AGE_DAYS}; 0 also turns off the repair of later gaps.`,
    ),
  FEED_URL: urls
    .default([])
    .describe(
      "Address of a proxy in front of the provider; with several providers a comma-separated list as oanda=https://…,tiingo=wss://…. Unset: the provider's own.",
    ),
  OANDA_TOKEN: secret("OANDA_TOKEN", "Access token of an OANDA v20 account"),
  OANDA_ACCOUNT: z.string().optional().describe("Number of the OANDA account, for example 101-004-1234567-001."),
  OANDA_ENVIRONMENT: z
    .enum(["practice", "live"])
    .default("practice")
    .describe("The kind of the OANDA account, practice or live; each has its own tokens."),
  CTRADER_CLIENT_ID: z.string().min(1).optional().describe("Client ID of an application of the cTrader Open API."),
  CTRADER_CLIENT_SECRET: secret("CTRADER_CLIENT_SECRET", "Client secret of this application"),
  CTRADER_ACCESS_TOKEN: secret("CTRADER_ACCESS_TOKEN", "Access token of the application for the account"),
  CTRADER_REFRESH_TOKEN: secret(
    "CTRADER_REFRESH_TOKEN",
    "Refresh token that came with the access token; with it, an access token that expired is renewed, and later tokens are kept in the database, encrypted",
  ),
  CTRADER_ACCOUNT: z.coerce
    .number()
    .int()
    .positive()
    .optional()
    .describe("The ctidTraderAccountId of the cTrader account; it is not the number that cTrader shows."),
  CTRADER_ENVIRONMENT: z.enum(["demo", "live"]).default("demo").describe("The kind of the cTrader account, demo or live."),
  CTRADER_TIMES: z
    .enum(["source", "arrival"])
    .default("source")
    .describe(
      "Times of cTrader's prices: source, or arrival for a broker that sends none: then prices get the time at which they arrive.",
    ),
  FIX_HOST: z.string().min(1).optional().describe("Host of a FIX 4.4 market data session."),
  FIX_PORT: z.coerce.number().int().min(1).max(65_535).optional().describe("Port of this session."),
  FIX_TLS: z.enum(["on", "off"]).default("on").describe("Whether the session is encrypted, on or off."),
  FIX_SENDER: z.string().min(1).optional().describe("Our name in the session (SenderCompID)."),
  FIX_TARGET: z.string().min(1).optional().describe("The venue's name in the session (TargetCompID)."),
  FIX_SENDER_SUB: z.string().min(1).optional().describe("SenderSubID, where the venue wants one. Unset: that of the profile."),
  FIX_TARGET_SUB: z.string().min(1).optional().describe("TargetSubID, where the venue wants one. Unset: that of the profile."),
  FIX_USERNAME: z.string().min(1).optional().describe("User name of the logon, where the venue wants one."),
  FIX_PASSWORD: secret("FIX_PASSWORD", "Password of the logon, where the venue wants one"),
  FIX_PROFILE: z
    .enum(["generic", "ctrader", "fxcm", "lmax"])
    .default("generic")
    .describe("How the venue uses FIX: generic, ctrader, fxcm or lmax."),
  MASSIVE_KEY: secret("MASSIVE_KEY", "API key of Massive (formerly Polygon)"),
  TIINGO_TOKEN: secret("TIINGO_TOKEN", "API token of Tiingo"),
  TWELVEDATA_KEY: secret("TWELVEDATA_KEY", "API key of Twelve Data"),
  TRADERMADE_KEY: secret("TRADERMADE_KEY", "API key of TraderMade"),
};

/** The address of a proxy in front of a provider; undefined without one. */
export const feedUrl = ({ FEED_URL }: { readonly FEED_URL: z.infer<typeof urls> }, name: ProviderName): string | undefined =>
  FEED_URL.find(({ feed }) => feed === name || feed === "")?.url;

/** The slug of the live venue's provider; null without one. */
export function liveProvider({
  LIVE_FEED,
  LIVE_PROVIDER,
}: {
  readonly LIVE_FEED: readonly string[];
  readonly LIVE_PROVIDER?: string | undefined;
}): string | null {
  const name = LIVE_FEED.join(",");
  return name === "none" ? null : (LIVE_PROVIDER ?? name);
}

/** The settings of each provider, those it needs first. */
export function providerFields(): Readonly<Record<ProviderName, readonly ProviderField[]>> {
  const fieldsOf = (needed: readonly string[]): ProviderField[] => {
    const [prefix = ""] = needed[0]?.split("_") ?? [];
    const others = Object.keys(feedSettings).filter((name) => name.startsWith(`${prefix}_`) && !needed.includes(name));
    return [...needed, ...others].map((name) => {
      const schema = z.toJSONSchema(feedSettings[name as keyof typeof feedSettings], { io: "input", unrepresentable: "any" });
      return {
        name,
        hint: (schema.description ?? "").replace(/ Or set \w+_FILE to the path.*$/, ""),
        required: needed.includes(name),
        secret: SECRET_SETTINGS.some((one) => one === name),
        ...(schema.enum && { options: schema.enum.map(String) }),
        ...(schema.default !== undefined && { initial: String(schema.default) }),
      };
    });
  };
  const entries = PROVIDERS.map((name) => [name, fieldsOf(PROVIDER_SETTINGS[name])]);
  return Object.fromEntries(entries) as Record<ProviderName, ProviderField[]>;
}

/**
 * The settings of a provider that were typed, as those of the environment; empty ones count as absent.
 * @returns the first that is wrong, and why, where one is
 */
export function typedSettings(
  name: ProviderName,
  typed: Readonly<Record<string, string>>,
): { readonly settings: Readonly<Record<string, unknown>> } | { readonly wrong: string; readonly problem: string } {
  const settings: Record<string, unknown> = {};
  for (const { name: field, required } of providerFields()[name]) {
    const text = typed[field]?.trim() ?? "";
    if (text === "" && required) return { wrong: field, problem: "is needed." };
    const parsed = feedSettings[field as keyof typeof feedSettings].safeParse(text === "" ? undefined : text);
    if (!parsed.success) return { wrong: field, problem: parsed.error.issues[0]?.message ?? "is wrong." };
    settings[field] = parsed.data;
  }
  return { settings };
}
