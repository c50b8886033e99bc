import { existsSync } from "node:fs";
import { z } from "zod";
import { validate } from "./contract/validate";

/** The one fixed public test key: both scopes, every origin, limits per client address. */
export const DEMO_KEY_DEFAULT = "sw_test_DEMOkeyOfSpotwireForEveryone000ID0Y9";

/** Shorter secrets can be guessed. */
const SECRET_MIN_CHARACTERS = 32;

const port = z.coerce.number().int().min(0).max(65_535);
const list = z.string().transform((text) =>
  text
    .split(",")
    .map((entry) => entry.trim())
    .filter(Boolean),
);

/**
 * Every variable the service reads, with its default. The description is printed in `.env.example`,
 * which a test compares with this schema.
 */
export const EnvSchema = z
  .object({
    ROLE: z
      .enum(["all", "ingest", "edge"])
      .default("all")
      .describe("What this node does: all, ingest (takes in ticks) or edge (answers clients); all but `all` need REDIS_URL."),
    REDIS_URL: z
      .url({ protocol: /^rediss?$/, error: "must be a redis:// or rediss:// URL." })
      .optional()
      .describe("Redis 7 or Valkey that the nodes of one installation share; needs DATABASE_URL. Unset: one node alone."),
    REDIS_PREFIX: z
      .string()
      .regex(/^[A-Za-z0-9_.-]{1,40}$/, "must be 1 to 40 letters, digits, `_`, `.` and `-`.")
      .default("spotwire")
      .describe("Begin of every key in Redis; installations that share one need different ones."),
    NODE_URL: z
      .url({ protocol: /^https?$/, error: "must be an http:// or https:// URL." })
      .transform((address) => address.replace(/\/$/, ""))
      .optional()
      .describe("Address at which other nodes reach this one, for ticks pushed to another. Unset: host name and port."),
    NODE_ENV: z.enum(["development", "test", "production"]).default("production").describe("development, test or production."),
    PORT: port.default(3000).describe("Port to listen on; 0 picks a free one."),
    HOST: z.string().min(1).default("0.0.0.0").describe("Address to listen on."),
    PUBLIC_URL: z
      .url({ protocol: /^https?$/, error: "must be an http:// or https:// URL." })
      .transform((address) => address.replace(/\/$/, ""))
      .optional()
      .describe("Address readers use, for links in answers. Unset: paths without a host."),
    DATA_DIR: z.string().min(1).default("./.data").describe("Where the embedded database and generated secrets live."),
    DATABASE_URL: z
      .url({ protocol: /^postgres(ql)?$/, error: "must be a postgresql:// URL." })
      .optional()
      .describe("PostgreSQL 15 or later. Unset: an embedded PostgreSQL in DATA_DIR."),
    DATABASE_POOL_SIZE: z.coerce.number().int().min(2).max(200).default(10).describe("Connections kept to the database."),
    DATABASE_WAIT_S: z.coerce
      .number()
      .int()
      .min(0)
      .max(3600)
      .default(60)
      .describe("Seconds to go on trying to reach the database at start."),
    KLINE_RETENTION_YEARS: z.coerce
      .number()
      .int()
      .min(0)
      .max(200)
      .default(0)
      .describe("Years that klines shorter than a day are kept; older ones go a whole calendar year at a time. 0 keeps all."),
    LOG_LEVEL: z
      .enum(["fatal", "error", "warn", "info", "debug", "trace", "silent"])
      .default("info")
      .describe("Least level that is logged."),
    DEMO_KEY: z
      .union([z.literal("off"), z.string().regex(/^sw_test_[0-9A-Za-z]{36}$/)], "must be an sw_test_ key, or `off`.")
      .default(DEMO_KEY_DEFAULT)
      .describe("The public demo key, another sw_test_ key in its place, or off."),
    TRUSTED_PROXIES: list.default([]).describe("Comma-separated addresses or CIDR ranges whose X-Forwarded-For is believed."),
    SANDBOX_SEED: z.coerce.number().int().min(0).max(4_294_967_295).default(1).describe("Seed of the synthetic sandbox prices."),
    LIVE_FEED: z
      .enum(["none", "push", "replay"])
      .default("none")
      .describe("What feeds the live venue: none, push (POST /api/v1/ingest/ticks) or replay (recorded tick files)."),
    LIVE_PROVIDER: z
      .string()
      .regex(/^[a-z0-9][a-z0-9-]{0,39}$/, "must be 1 to 40 lower-case letters, digits and dashes.")
      .optional()
      .describe("Slug shown as provider_source of the live venue. Unset: the name of the feed."),
    REPLAY_FILES: list.default([]).describe("Comma-separated tick files for LIVE_FEED=replay, named TICKER=path."),
    REPLAY_PACE: z.coerce.number().positive().max(10_000).default(1).describe("1 is the recorded pace, 10 ten times as fast."),
    REPLAY_SHIFT: z
      .enum(["now", "none"])
      .default("now")
      .describe("now moves the recording so that it starts at this instant; none keeps its own times."),
    NEXTAUTH_SECRET: z
      .string()
      .min(SECRET_MIN_CHARACTERS)
      .optional()
      .describe(
        "Secret behind sign-ins and playground tokens, the same on every node. Unset: made once and kept in DATA_DIR; needed in production with DATABASE_URL.",
      ),
    GITHUB_ID: z
      .string()
      .optional()
      .describe("Client id of a GitHub OAuth app; with its secret, people can sign in with GitHub."),
    GITHUB_SECRET: z.string().optional().describe("Its client secret."),
    GOOGLE_ID: z
      .string()
      .optional()
      .describe("Client id of a Google OAuth client; with its secret, people can sign in with Google."),
    GOOGLE_SECRET: z.string().optional().describe("Its client secret."),
    OIDC_ISSUER: z
      .url({ protocol: /^https?$/, error: "must be an http:// or https:// URL." })
      .optional()
      .describe("Issuer of any other OpenID Connect provider people can sign in with; needs the next two."),
    OIDC_CLIENT_ID: z
      .string()
      .optional()
      .describe("Client id at that provider. Its redirect URI: PUBLIC_URL/api/auth/callback/oidc."),
    OIDC_CLIENT_SECRET: z.string().optional().describe("Client secret at that provider."),
    OIDC_NAME: z.string().min(1).max(40).default("OpenID").describe("What the button for that provider says."),
    SMTP_URL: z
      .url({ protocol: /^smtps?$/, error: "must be an smtp:// or smtps:// URL." })
      .optional()
      .describe(
        "Mail server, as smtp://user:password@host:587. Unset: mails are written to the log. Set PUBLIC_URL with it, for the links.",
      ),
    MAIL_FROM: z.string().min(3).default("Spotwire <noreply@localhost>").describe("Sender of mails."),
  })
  .superRefine(({ ROLE, REDIS_URL, DATABASE_URL }, context) => {
    const missing = (path: string, message: string) => context.addIssue({ code: "custom", path: [path], message });
    if (ROLE !== "all" && REDIS_URL === undefined) missing("REDIS_URL", `is required with ROLE=${ROLE}.`);
    if (REDIS_URL !== undefined && DATABASE_URL === undefined)
      missing("DATABASE_URL", "is required with REDIS_URL, because the nodes share one database.");
  });

export type Env = Readonly<z.infer<typeof EnvSchema>>;

/** A wrong configuration; its message names every wrong variable and what is allowed. */
export class EnvError extends Error {
  override readonly name = "EnvError";
}

type Variables = Readonly<Record<string, string | undefined>>;

/** The environment, with what a `.env` in the working directory adds; variables that are set win over the file. */
function environment(): Variables {
  if (existsSync(".env")) process.loadEnvFile(".env");
  return process.env;
}

/**
 * Reads the configuration once; empty variables count as unset.
 * @throws EnvError naming each wrong variable and what it may be; a value is never printed.
 */
export function readEnv(source: Variables = environment()): Env {
  const given = Object.fromEntries(Object.entries(source).filter(([, value]) => value !== ""));
  const validated = validate(EnvSchema, given);
  if ("data" in validated) return Object.freeze(validated.data);
  const lines = validated.refusals.map(({ path: [name], detail }) => {
    const description = EnvSchema.shape[name as keyof Env]?.description ?? "";
    return `  ${detail} ${description}`;
  });
  throw new EnvError(`Wrong configuration:\n${lines.join("\n")}`);
}

/**
 * Makes next-auth take its own address from the request it is handed, which lib/portal/auth fills in: it reads these two
 * variables itself, and there is no other way to tell it.
 */
export function letNextAuthReadItsOrigin(): void {
  delete process.env.NEXTAUTH_URL;
  process.env.AUTH_TRUST_HOST = "true";
}
