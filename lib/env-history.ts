import path from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { z } from "zod";

const REGION_DEFAULT = "us-east-1";
const BUCKET = /^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$/;
/** Of characters that are the same in an address, in a signature and in XML. */
const PREFIX = /^[A-Za-z0-9_-][A-Za-z0-9._-]*(\/[A-Za-z0-9_-][A-Za-z0-9._-]*)*$/;
const REGION = /^[a-z0-9-]{1,40}$/;
const OPTIONS = ["endpoint", "region"];

/** A directory. */
interface Folder {
  readonly kind: "directory";
  readonly folder: string;
}

/** An S3-compatible bucket. */
export interface Bucket {
  readonly kind: "bucket";
  /** The address of the bucket, without a slash at the end. */
  readonly address: string;
  readonly bucket: string;
  /** What the names of all objects begin with: empty, or with a slash at the end. */
  readonly prefix: string;
  readonly region: string;
}

/** Where files lie outside the database: segments of stored klines, backups. */
export type Place = Folder | Bucket;

/** A place as HISTORY_URL names it, in one spelling. */
export function placeUrl(place: Place): string {
  if (place.kind === "directory") return pathToFileURL(path.resolve(place.folder)).href;
  const { address, bucket, prefix, region } = place;
  const url = new URL(`s3://${bucket}/${prefix.slice(0, -1)}`);
  const isAws = address === addressOf(bucket, region, null);
  if (!isAws) url.searchParams.set("endpoint", address.slice(0, -bucket.length - 1));
  if (region !== REGION_DEFAULT) url.searchParams.set("region", region);
  return url.href;
}

/** What a file:// URL has to be. */
export const FOLDER_RULE = "must name a directory that exists and that this process can write to, as file:///var/lib/spotwire.";

function folderOf(url: URL): Folder | string {
  if (url.host !== "" || url.search !== "" || url.hash !== "") return FOLDER_RULE;
  try {
    const folder = fileURLToPath(url);
    return folder === "/" ? FOLDER_RULE : { kind: "directory", folder };
  } catch {
    // An escaped slash.
    return FOLDER_RULE;
  }
}

/** AWS has a host for each bucket; one with dots in its name has no certificate there, and stands in the path as with other servers. */
function addressOf(bucket: string, region: string, endpoint: string | null): string {
  if (endpoint !== null) return `${endpoint.replace(/\/+$/, "")}/${bucket}`;
  const host = `s3.${region}.amazonaws.com`;
  return bucket.includes(".") ? `https://${host}/${bucket}` : `https://${bucket}.${host}`;
}

function bucketOf({ host, pathname, username, password, hash, searchParams }: URL): Bucket | string {
  if (username !== "" || password !== "")
    return "must not have a key in it: set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY instead.";
  const [endpoint, region] = [searchParams.get("endpoint"), searchParams.get("region") ?? REGION_DEFAULT];
  const named = endpoint === null ? null : URL.parse(endpoint);
  if (
    endpoint !== null &&
    (!/^https?:$/.test(named?.protocol ?? "") || named?.username !== "" || named.search + named.hash !== "")
  )
    return "must have an http:// or https:// URL as its endpoint.";
  const prefix = pathname.replace(/^\/+|\/+$/g, "");
  const isRight = BUCKET.test(host) && (prefix === "" || PREFIX.test(prefix)) && REGION.test(region) && hash === "";
  if (!isRight || [...searchParams.keys()].some((name) => !OPTIONS.includes(name)))
    return "must be s3://bucket/prefix?endpoint=…&region=…, with an endpoint for any other service than AWS.";
  const address = addressOf(host, region, endpoint);
  return { kind: "bucket", address, bucket: host, prefix: prefix === "" ? "" : `${prefix}/`, region };
}

const place = z.string().transform((text, context): Place => {
  const url = URL.parse(text);
  let found: Place | string = "must be a file:// or an s3:// URL.";
  if (url?.protocol === "file:") found = folderOf(url);
  else if (url?.protocol === "s3:") found = bucketOf(url);
  if (typeof found !== "string") return found;
  context.addIssue({ code: "custom", message: found });
  return z.NEVER;
});

/** Where stored klines and backups lie, and how much memory those klines take that were read last. */
export const historySettings = {
  HISTORY_URL: place
    .optional()
    .describe(
      "Where the files of stored klines lie: file:///path of a directory, or s3://bucket/prefix?endpoint=…&region=… of an S3-compatible service. A backup of the database then does not contain them. All nodes and commands need the same. Unset: in the database.",
    ),
  HISTORY_CACHE_MB: z.coerce
    .number()
    .int()
    .min(8)
    .max(65_536)
    .default(64)
    .describe(
      "Megabytes of memory for stored klines that were read last, in each process that reads them. Freed after a minute without a read.",
    ),
  BACKUP_EVERY: z.coerce
    .number()
    .int()
    .min(1)
    .max(720)
    .optional()
    .describe("Hours between the backups that the service makes by itself, into BACKUP_TO. Unset: it makes none."),
  BACKUP_TO: place
    .optional()
    .describe(
      "Where the service puts its backups: file:///path of a directory, or s3://bucket/prefix?endpoint=…&region=… of an S3-compatible service.",
    ),
  BACKUP_KEEP: z.coerce
    .number()
    .int()
    .min(1)
    .max(1_000)
    .default(14)
    .describe("How many of these backups are kept; the oldest are deleted after a new one."),
  AWS_ACCESS_KEY_ID: z.string().min(1).optional().describe("Key of the bucket of an s3:// HISTORY_URL or BACKUP_TO."),
  AWS_SECRET_ACCESS_KEY: z.string().min(1).optional().describe("Secret of this key."),
  AWS_SESSION_TOKEN: z.string().min(1).optional().describe("Session token of this key, if it is a temporary one."),
};

/** What openStore and the database need of the settings. */
export type HistoryEnv = Partial<{ readonly [Name in keyof typeof historySettings]: z.infer<(typeof historySettings)[Name]> }>;

/** The settings that are missing with these, and why they are required. */
export function missingForHistory(
  env: HistoryEnv,
): [name: "AWS_ACCESS_KEY_ID" | "AWS_SECRET_ACCESS_KEY" | "BACKUP_TO", why: string][] {
  const { HISTORY_URL, BACKUP_EVERY, BACKUP_TO } = env;
  const missing: ReturnType<typeof missingForHistory> = [];
  if (BACKUP_EVERY !== undefined && BACKUP_TO === undefined) missing.push(["BACKUP_TO", "is required with BACKUP_EVERY."]);
  if (HISTORY_URL?.kind !== "bucket" && BACKUP_TO?.kind !== "bucket") return missing;
  for (const name of ["AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"] as const)
    if (env[name] === undefined)
      missing.push([name, `is required with an s3:// ${HISTORY_URL?.kind === "bucket" ? "HISTORY_URL" : "BACKUP_TO"}.`]);
  return missing;
}
