import type { Clock } from "#lib/clock";
import type { HistoryEnv, Place } from "#lib/env-history";
import { createBucketStore } from "./bucket-store";
import { createDirectoryStore } from "./directory-store";
import type { SegmentStore } from "./segment-store";

/** Where stored klines lie and how much memory they may take, by HISTORY_URL and HISTORY_CACHE_MB; for openDatabase. */
export function historyOptions(env: HistoryEnv, clock: Clock): { segmentStore?: SegmentStore; historyCacheMb?: number } {
  const { HISTORY_URL: place, HISTORY_CACHE_MB: historyCacheMb } = env;
  const cache = historyCacheMb === undefined ? {} : { historyCacheMb };
  return place === undefined ? cache : { ...cache, segmentStore: openStore(place, env, clock) };
}

/** The segments of a directory, or of a bucket with the key of these settings. */
export function openStore(place: Place, env: HistoryEnv, clock: Clock): SegmentStore {
  if (place.kind === "directory") return createDirectoryStore({ folder: place.folder, clock });
  return createBucketStore({ place, credentials: credentialsOf(env), clock });
}

/** The key of the buckets. */
export function credentialsOf({ AWS_ACCESS_KEY_ID = "", AWS_SECRET_ACCESS_KEY = "", AWS_SESSION_TOKEN }: HistoryEnv) {
  const credentials = { accessKeyId: AWS_ACCESS_KEY_ID, secretAccessKey: AWS_SECRET_ACCESS_KEY };
  return AWS_SESSION_TOKEN === undefined ? credentials : { ...credentials, sessionToken: AWS_SESSION_TOKEN };
}
