import type { Clock } from "#lib/clock";
import type { HistoryEnv } from "#lib/env-history";
import { createBucketStore } from "./bucket-store";
import { createDirectoryStore } from "./directory-store";
import type { SegmentStore } from "./segment-store";

/** Where stored klines lie and how much memory they may take, by HISTORY_URL and HISTORY_CACHE_MB; for openDatabase. */
export function historyOptions(env: HistoryEnv, clock: Clock): { segmentStore?: SegmentStore; historyCacheMb?: number } {
  const { HISTORY_URL: place, HISTORY_CACHE_MB: historyCacheMb } = env;
  const cache = historyCacheMb === undefined ? {} : { historyCacheMb };
  if (place === undefined) return cache;
  if (place.kind === "directory") return { ...cache, segmentStore: createDirectoryStore({ folder: place.folder, clock }) };
  return { ...cache, segmentStore: createBucketStore({ place, credentials: credentialsOf(env), clock }) };
}

/** The key of the buckets. */
export function credentialsOf({ AWS_ACCESS_KEY_ID = "", AWS_SECRET_ACCESS_KEY = "", AWS_SESSION_TOKEN }: HistoryEnv) {
  const credentials = { accessKeyId: AWS_ACCESS_KEY_ID, secretAccessKey: AWS_SECRET_ACCESS_KEY };
  return AWS_SESSION_TOKEN === undefined ? credentials : { ...credentials, sessionToken: AWS_SESSION_TOKEN };
}
