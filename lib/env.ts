import { z } from "zod";
import { KEY_PREFIX } from "./contract/key-text";
import { PROVIDERS } from "./contract/portal-feeds";
import { databaseAddress, publicAddress, redisAddress, smtpAddress } from "./env-addresses";
import { brandSettings, missingForBrand, PROGRAM_NAME } from "./env-brand";
import { feedSettings, instant, PROVIDER_SETTINGS, wordList } from "./env-feeds";
import { historySettings, missingForHistory } from "./env-history";
import { telemetrySettings } from "./env-telemetry";

/** The one fixed public test key: both scopes, every origin, limits per client address. */
export const DEMO_KEY_DEFAULT = "sw_test_DEMOkeyOfSpotwireForEveryone000ID0Y9";

/** The most edge workers that one node may start. */
export const WORKERS_MAX_COUNT = 64;

/** Connections of a node, unless DATABASE_POOL_SIZE says otherwise. */
export const POOL_COUNT = 10;
/** Database connections of a process. With fewer, a transaction that needs a second one would wait for itself. */
export const POOL_SHARE_MIN_COUNT = 2;

/** The database connections that a node with so many edge workers needs at least. */
export function poolMinCount({ PORTAL }: { readonly PORTAL: "on" | "off" }, workers: number): number {
  return POOL_SHARE_MIN_COUNT * (workers + 1 + (PORTAL === "on" ? 1 : 0));
}

/** Shorter secrets can be guessed. */
const SECRET_MIN_CHARACTERS = 32;

const METRICS_TOKEN_MIN_CHARACTERS = 16;

const port = z.coerce.number().int().min(0).max(65_535);
/** Comma-separated ports. */
const portList = wordList.transform((words) => words.map(Number)).pipe(z.array(z.number().int().min(1).max(65_535)));
/** Variables that many programs share, also in lower case. */
export const PROXY_SETTINGS = ["HTTPS_PROXY", "HTTP_PROXY", "NO_PROXY"] as const;
const proxy = z.url({ protocol: /^https?$/, error: "must be an http:// or https:// URL." }).optional();

/**
 * Every variable the service reads, with its default. The description is printed in `.env.example`,
 * which a test compares with this schema. Whether a file that one names can be read is for the reader to say.
 */
export const EnvSchema = z
  .object({
    ROLE: z
      .enum(["all", "ingest", "edge"])
      .default("all")
      .describe("Role of this node: all, ingest (receives ticks) or edge (serves clients); ingest and edge need REDIS_URL."),
    REDIS_URL: redisAddress
      .optional()
      .describe(
        "Redis 7 or Valkey that the nodes of one installation share, as redis://user:password@host:6379/0, rediss:// for TLS, unix:///path?db=0 for a socket; needs DATABASE_URL. Unset: a single node.",
      ),
    REDIS_CA_FILE: z
      .string()
      .optional()
      .describe("PEM file of the CA that signed the certificate of Redis, for a rediss:// URL. Unset: the public CAs."),
    REDIS_PREFIX: z
      .string()
      .regex(/^[A-Za-z0-9_.-]{1,40}$/, "must be 1 to 40 letters, digits, `_`, `.` and `-`.")
      .default("spotwire")
      .describe("Prefix of every key in Redis; installations that share a Redis need different prefixes."),
    HTTPS_PROXY: proxy.describe(
      "Proxy for connections that the service opens over HTTPS and secure WebSocket: providers, webhooks, sign-in providers, OpenTelemetry. As http://proxy:3128; lower case works, too.",
    ),
    HTTP_PROXY: proxy.describe("The same for connections over plain HTTP and WebSocket."),
    NO_PROXY: z
      .string()
      .optional()
      .describe("Comma-separated hosts that are reached without a proxy, as .internal.example,10.0.0.5; this machine always is."),
    PORTAL: z
      .enum(["on", "off"])
      .default("on")
      .describe(
        "on serves the pages (portal, docs, playground) from a second process; off serves the API and the streams alone.",
      ),
    PLANS_PAGE: z
      .enum(["public", "off"])
      .default("off")
      .describe("public shows the plans that are marked as public to everybody, at /plans."),
    WORKERS: z
      .union([z.literal("auto"), z.coerce.number().int().min(1).max(WORKERS_MAX_COUNT)], {
        error: `must be auto, or a whole number from 1 to ${WORKERS_MAX_COUNT}.`,
      })
      .default("auto")
      .describe(
        "Edge workers: processes that share the port and serve clients, beside the market process and the portal's. auto: one for each core left beside these two; 1: the market process serves clients itself.",
      ),
    NODE_URL: z
      .url({ protocol: /^https?$/, error: "must be an http:// or https:// URL." })
      .transform((address) => address.replace(/\/$/, ""))
      .optional()
      .describe("URL at which other nodes reach this node to forward ticks. Unset: host name and port."),
    NODE_ENV: z.enum(["development", "test", "production"]).default("production").describe("development, test or production."),
    PORT: port.default(3000).describe("Port to listen on; 0 picks a free one."),
    HOST: z.string().min(1).default("0.0.0.0").describe("Address to listen on."),
    PUBLIC_URL: publicAddress
      .optional()
      .describe(
        "Public URL of the service, as https://market.example.com: for links in responses and emails, and the only address at which people sign in. Unset: paths without a host.",
      ),
    DATA_DIR: z
      .string()
      .min(1)
      .default("./.data")
      .describe("Directory of the embedded database, generated secrets and computed days of the sandbox."),
    DISK_RESERVE_MIB: z.coerce
      .number()
      .int()
      .min(0)
      .max(1_048_576)
      .default(256)
      .describe(
        "Free MiB of the disk of DATA_DIR below which pushed ticks and klines are refused, before the database fails; 0 never refuses.",
      ),
    DATABASE_URL: databaseAddress
      .optional()
      .describe(
        "PostgreSQL 15 or later, as postgresql://user:password@host:5432/name; add ?sslmode=verify-full&sslrootcert=/path/ca.pem for TLS, ?host=/run/postgresql for a socket. Unset: an embedded PostgreSQL in DATA_DIR.",
      ),
    DATABASE_DIRECT_URL: databaseAddress
      .optional()
      .describe(
        "The same database past a pooler, for what needs a session of its own: notifications, migrations, imports and backups. Needed where DATABASE_URL leads to a pooler with transaction pooling. Unset: DATABASE_URL.",
      ),
    DATABASE_POOL_SIZE: z.coerce
      .number()
      .int()
      .min(2)
      .max(200)
      .optional()
      .describe(
        "Maximum number of database connections of a node; its processes share them, and each may open at least two. Unset: 10, and 2 more for each edge worker.",
      ),
    DATABASE_WAIT_S: z.coerce
      .number()
      .int()
      .min(0)
      .max(3600)
      .default(60)
      .describe("Maximum seconds to wait for the database at startup."),
    KLINE_RETENTION_YEARS: z.coerce
      .number()
      .int()
      .min(0)
      .max(200)
      .default(0)
      .describe("Years to keep klines shorter than a day; older ones are deleted by calendar year. 0 keeps all."),
    ...historySettings,
    BACKUP_MAX_AGE_DAYS: z.coerce
      .number()
      .int()
      .min(0)
      .max(3650)
      .default(7)
      .describe("Days after which /admin warns that the last backup is too old. 0 never warns."),
    BACKUP_PASSPHRASE: z
      .string()
      .min(12, "must have at least 12 characters.")
      .max(1_000)
      .optional()
      .describe(
        "Encrypts backups, which then contain the secret of the installation: a restore needs this passphrase and nothing else. Keep it elsewhere. Or set BACKUP_PASSPHRASE_FILE to the path of a file that holds it.",
      ),
    ALERT_EMAIL: wordList
      .pipe(z.array(z.email("must be email addresses, separated by commas.")).max(10, "must be at most 10 addresses."))
      .default([])
      .describe(
        "Comma-separated addresses that are warned when something is wrong with the service, and told when it is over and when an account asks for live access.",
      ),
    WEBHOOK_ALLOWED_HOSTS: wordList
      .default([])
      .describe(
        "Comma-separated hosts inside your network that webhooks may also reach, also over http: `hooks.internal`, or with a port `10.0.0.5:8080`. Unset: public https URLs only.",
      ),
    WEBHOOK_PORTS: portList
      .prefault("80,443,8080,8443")
      .describe("Comma-separated ports at which webhooks may reach public addresses."),
    LOG_LEVEL: z
      .enum(["fatal", "error", "warn", "info", "debug", "trace", "silent"])
      .default("info")
      .describe("Minimum level to log."),
    DEMO_KEY: z
      .union(
        [z.literal("off"), z.string().regex(new RegExp(`^${KEY_PREFIX}_test_[0-9A-Za-z]{36}$`))],
        "must be a key of the sandbox, as sw_test_…, or `off`.",
      )
      .default(DEMO_KEY_DEFAULT)
      .describe("The public demo key: a key of the sandbox, or off. Unset: one that is made of BRAND_NAME and KEY_PREFIX."),
    TRUSTED_PROXIES: wordList
      .default([])
      .describe("Comma-separated IP addresses or CIDR ranges of proxies that are trusted to name the client."),
    FORWARDED_HEADER: z
      .enum(["x-forwarded-for", "forwarded"])
      .default("x-forwarded-for")
      .describe(
        "Header in which these proxies name the client: x-forwarded-for, or forwarded (RFC 7239). Only this one is read. They must set it or append to it.",
      ),
    KEEP_ALIVE_S: z.coerce
      .number()
      .int()
      .min(1)
      .max(3600)
      .default(75)
      .describe(
        "Seconds after which an idle HTTP connection is closed. Longer than the proxies in front keep it: one that uses a connection at the moment it is closed answers 502.",
      ),
    METRICS_TOKEN: z
      .string()
      .min(METRICS_TOKEN_MIN_CHARACTERS)
      .optional()
      .describe(
        "Token that /metrics and /api/ready then need, as Authorization: Bearer. Or set METRICS_TOKEN_FILE to the path of a file that holds it. Unset: they need none, and must not be public.",
      ),
    METRICS_PORT: port
      .optional()
      .describe(
        "Further port that serves /metrics and /api/ready without a token, for a private network; PORT then serves them only with METRICS_TOKEN.",
      ),
    HSTS_SUBDOMAINS: z
      .enum(["on", "off"])
      .default("off")
      .describe("on asks browsers to use HTTPS for all subdomains of the host in PUBLIC_URL, too (HSTS includeSubDomains)."),
    DATA_PAGE: z
      .enum(["accounts", "public"])
      .default("accounts")
      .describe(
        "Who sees under /data what is stored of the live venue: accounts, operators and those with a live key that reads it; public, everybody. No setting shows its prices to more readers.",
      ),
    SANDBOX_SEED: z.coerce.number().int().min(0).max(4_294_967_295).default(1).describe("Seed of the synthetic sandbox prices."),
    ...feedSettings,
    LIVE_PROVIDER: z
      .string()
      .regex(/^[a-z0-9][a-z0-9-]{0,39}$/, "must be 1 to 40 lower-case letters, digits and dashes.")
      .optional()
      .describe(
        "Slug shown as provider_source of the live venue. Unset: the name of the feed, or of the one of several that speaks for an instrument.",
      ),
    REPLAY_FILES: wordList.default([]).describe("Comma-separated tick files for LIVE_FEED=replay, each as TICKER=path."),
    REPLAY_FROM: instant
      .optional()
      .describe(
        "For LIVE_FEED=replay, in place of REPLAY_FILES: replays the stored ticks of the live venue from here on. A day in UTC, or ISO 8601 with an offset.",
      ),
    REPLAY_TO: instant
      .optional()
      .describe("The end of stored ticks that are replayed, excluded. Unset: the start of the service."),
    REPLAY_TICKERS: wordList
      .transform((words) => words.map((word) => word.toUpperCase()))
      .default([])
      .describe("Comma-separated tickers whose stored ticks are replayed. Unset: all."),
    REPLAY_PACE: z.coerce
      .number()
      .positive()
      .max(10_000)
      .default(1)
      .describe("Replay speed: 1 is the recorded pace, 10 is ten times as fast."),
    REPLAY_SHIFT: z
      .enum(["now", "none"])
      .default("now")
      .describe("now shifts the recording so that it starts now; none keeps its original times."),
    NEXTAUTH_SECRET: z
      .string()
      .min(SECRET_MIN_CHARACTERS)
      .optional()
      .describe(
        "Secret that signs sessions and playground tokens, the same on every node. Unset: generated once and stored in DATA_DIR; required in production with DATABASE_URL.",
      ),
    GITHUB_ID: z
      .string()
      .optional()
      .describe("Client ID of a GitHub OAuth app. Set it with GITHUB_SECRET to enable sign-in with GitHub."),
    GITHUB_SECRET: z.string().optional().describe("Client secret of the GitHub OAuth app."),
    GOOGLE_ID: z
      .string()
      .optional()
      .describe("Client ID of a Google OAuth client. Set it with GOOGLE_SECRET to enable sign-in with Google."),
    GOOGLE_SECRET: z.string().optional().describe("Client secret of the Google OAuth client."),
    OIDC_ISSUER: z
      .url({ protocol: /^https?$/, error: "must be an http:// or https:// URL." })
      .optional()
      .describe("Issuer of another OpenID Connect provider for sign-in; needs OIDC_CLIENT_ID and OIDC_CLIENT_SECRET."),
    OIDC_CLIENT_ID: z
      .string()
      .optional()
      .describe("Client ID at this provider. Redirect URI: PUBLIC_URL/api/auth/callback/oidc."),
    OIDC_CLIENT_SECRET: z.string().optional().describe("Client secret at this provider."),
    OIDC_NAME: z.string().min(1).max(40).default("OpenID").describe("Name of this provider on the sign-in button."),
    SMTP_URL: smtpAddress
      .optional()
      .describe(
        "Mail server, as smtp://user:password@host:587, or smtps:// for TLS from the first byte, as at port 465. Unset: emails are written to the log. Also set PUBLIC_URL, for the links.",
      ),
    SMTP_CA_FILE: z
      .string()
      .optional()
      .describe(
        "PEM file of the CA that signed the certificate of the mail server; emails are then sent over TLS alone. Unset: the public CAs.",
      ),
    SIGNUP: z
      .enum(["open", "invited", "closed"])
      .default("open")
      .describe(
        "Who may sign up: open lets everybody in; invited lets in anyone with an invitation or an email address in SIGNUP_DOMAINS, and everyone else waits for an operator's approval; closed creates accounts only by invitation.",
      ),
    SIGNUP_DOMAINS: z
      .string()
      .default("")
      .transform((text) =>
        text
          .split(",")
          .map((part) => part.trim().toLowerCase().replace(/^@/, ""))
          .filter(Boolean),
      )
      .pipe(z.array(z.string().regex(/^([a-z0-9-]+\.)+[a-z0-9-]+$/, "must be domains, as example.com,example.org.")))
      .describe("Comma-separated domains of email addresses that need no approval with SIGNUP=invited."),
    TERMS_URL: z
      .url({ protocol: /^https?$/, error: "must be an http:// or https:// URL." })
      .optional()
      .describe("Your terms, which new users accept at sign-up; version and time are kept."),
    PRIVACY_URL: z
      .url({ protocol: /^https?$/, error: "must be an http:// or https:// URL." })
      .optional()
      .describe("Your privacy policy, which new users accept in the same way."),
    TERMS_VERSION: z.string().min(1).max(40).default("1").describe("Version of both that is kept with each acceptance."),
    MAIL_FROM: z
      .string()
      .min(3)
      .default(`${PROGRAM_NAME} <noreply@localhost>`)
      .describe("Sender address of emails. Unset: <noreply@localhost> under BRAND_NAME."),
    ...brandSettings,
    ...telemetrySettings,
  })
  .superRefine((env, context) => {
    const { ROLE, REDIS_URL, REDIS_CA_FILE, DATABASE_URL, LIVE_FEED, FEED_URL } = env;
    const missing = (path: string, message: string) => context.addIssue({ code: "custom", path: [path], message });
    const workers = env.WORKERS === "auto" ? 1 : env.WORKERS;
    if (workers > 1 && REDIS_URL !== undefined)
      missing("WORKERS", "must be 1 with REDIS_URL, where each further core is used by another node.");
    if (workers > 1 && (env.DATABASE_POOL_SIZE ?? poolMinCount(env, workers)) < poolMinCount(env, workers))
      missing("DATABASE_POOL_SIZE", `must be at least ${poolMinCount(env, workers)} with WORKERS=${workers}.`);
    if (env.SIGNUP_DOMAINS.length > 0 && env.SIGNUP !== "invited") missing("SIGNUP_DOMAINS", "needs SIGNUP=invited.");
    if (env.METRICS_PORT === env.PORT && env.PORT !== 0) missing("METRICS_PORT", "must be another port than PORT.");
    if (ROLE !== "all" && REDIS_URL === undefined) missing("REDIS_URL", `is required with ROLE=${ROLE}.`);
    if (REDIS_CA_FILE !== undefined && !REDIS_URL?.startsWith("rediss:"))
      missing("REDIS_CA_FILE", "needs a rediss:// REDIS_URL.");
    if (env.SMTP_CA_FILE !== undefined && env.SMTP_URL === undefined) missing("SMTP_CA_FILE", "needs SMTP_URL.");
    if (REDIS_URL !== undefined && DATABASE_URL === undefined)
      missing("DATABASE_URL", "is required with REDIS_URL, because the nodes share one database.");
    if (env.DATABASE_DIRECT_URL !== undefined && DATABASE_URL === undefined)
      missing("DATABASE_URL", "is required with DATABASE_DIRECT_URL, which leads to the same database.");
    for (const [name, problem] of missingForBrand(env)) missing(name, problem);
    for (const [name, problem] of missingForHistory(env)) missing(name, problem);
    const providers = PROVIDERS.filter((name) => LIVE_FEED.includes(name));
    for (const provider of providers)
      for (const name of PROVIDER_SETTINGS[provider])
        if (env[name] === undefined) missing(name, `is required with LIVE_FEED=${provider}.`);
    if (providers.length > 1 && FEED_URL.some(({ feed }) => feed === ""))
      missing("FEED_URL", "must say for which provider it is, as oanda=https://….");
  });

export type Env = Readonly<z.infer<typeof EnvSchema>>;
