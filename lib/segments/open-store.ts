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
  const {
    AWS_ACCESS_KEY_ID: accessKeyId = "",
    AWS_SECRET_ACCESS_KEY: secretAccessKey = "",
    AWS_SESSION_TOKEN: sessionToken,
  } = env;
  const credentials = { accessKeyId, secretAccessKey, ...(sessionToken !== undefined && { sessionToken }) };
  return { ...cache, segmentStore: createBucketStore({ place, credentials, clock }) };
}
