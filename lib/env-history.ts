import { accessSync, constants, statSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { z } from "zod";

const REGION_DEFAULT = "us-east-1";
const BUCKET = /^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$/;
/** Of characters that are the same in an address, in a signature and in XML. */
const PREFIX = /^[A-Za-z0-9_-][A-Za-z0-9._-]*(\/[A-Za-z0-9_-][A-Za-z0-9._-]*)*$/;
const REGION = /^[a-z0-9-]{1,40}$/;
const OPTIONS = ["endpoint", "region"];

/** A directory for segments of stored klines. */
interface HistoryFolder {
  readonly kind: "directory";
  readonly folder: string;
}

/** An S3-compatible bucket for them. */
export interface HistoryBucket {
  readonly kind: "bucket";
  /** The address of the bucket, without a slash at the end. */
  readonly address: string;
  readonly bucket: string;
  /** What the names of all objects begin with: empty, or with a slash at the end. */
  readonly prefix: string;
  readonly region: string;
}

/** Where segments lie outside the database. */
type HistoryPlace = HistoryFolder | HistoryBucket;

/** The path of a directory that this process can write to. @throws any error for another */
function writablePath(url: URL): string {
  const path = fileURLToPath(url);
  accessSync(path, constants.R_OK | constants.W_OK | constants.X_OK);
  if (!statSync(path).isDirectory() || path === "/") throw new Error("not a directory for klines");
  return path;
}

function folderOf(url: URL): HistoryFolder | string {
  const wrong = "must name a directory that exists and that this process can write to, as file:///var/lib/spotwire.";
  if (url.host !== "" || url.search !== "" || url.hash !== "") return wrong;
  try {
    return { kind: "directory", folder: writablePath(url) };
  } catch {
    return wrong;
  }
}

/** AWS has a host for each bucket; one with dots in its name has no certificate there, and stands in the path as with other servers. */
function addressOf(bucket: string, region: string, endpoint: string | null): string {
  if (endpoint !== null) return `${endpoint.replace(/\/+$/, "")}/${bucket}`;
  const host = `s3.${region}.amazonaws.com`;
  return bucket.includes(".") ? `https://${host}/${bucket}` : `https://${bucket}.${host}`;
}

function bucketOf({ host, pathname, username, password, hash, searchParams }: URL): HistoryBucket | string {
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

const place = z.string().transform((text, context): HistoryPlace => {
  const url = URL.parse(text);
  let found: HistoryPlace | string = "must be a file:// or an s3:// URL.";
  if (url?.protocol === "file:") found = folderOf(url);
  else if (url?.protocol === "s3:") found = bucketOf(url);
  if (typeof found !== "string") return found;
  context.addIssue({ code: "custom", message: found });
  return z.NEVER;
});

/** Where stored klines lie, and how much memory those take that were read last. */
export const historySettings = {
  HISTORY_URL: place
    .optional()
    .describe(
      "Where the files of stored klines lie: file:///path of a directory, or s3://bucket/prefix?endpoint=…&region=… of an S3-compatible service. A backup of the database then does not contain them. All nodes need the same. Unset: in the database.",
    ),
  HISTORY_CACHE_MB: z.coerce
    .number()
    .int()
    .min(8)
    .max(65_536)
    .default(64)
    .describe("Megabytes of memory for stored klines that were read last, in each process that reads them."),
  AWS_ACCESS_KEY_ID: z.string().min(1).optional().describe("Key of the bucket of an s3:// HISTORY_URL."),
  AWS_SECRET_ACCESS_KEY: z.string().min(1).optional().describe("Secret of this key."),
  AWS_SESSION_TOKEN: z.string().min(1).optional().describe("Session token of this key, if it is a temporary one."),
};

/** What openStore and the database need of the settings. */
export type HistoryEnv = Partial<{ readonly [Name in keyof typeof historySettings]: z.infer<(typeof historySettings)[Name]> }>;

/** The settings that are required with these. */
export function missingForHistory({ HISTORY_URL, AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY }: HistoryEnv): string[] {
  if (HISTORY_URL?.kind !== "bucket") return [];
  return Object.entries({ AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY }).flatMap(([name, value]) =>
    value === undefined ? name : [],
  );
}
