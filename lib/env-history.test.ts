import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { systemClock as clock } from "#lib/clock";
import { readEnv } from "#server/env";
import { historyOptions } from "#server/store/segments/open-store";

const folder = mkdtempSync(join(tmpdir(), "spotwire history-"));
afterAll(() => rmSync(folder, { recursive: true }));
writeFileSync(join(folder, "file"), "");
const address = (name = "") => `file://${encodeURI(folder)}${name}`;
const KEY = { AWS_ACCESS_KEY_ID: "AKIDEXAMPLE", AWS_SECRET_ACCESS_KEY: "s3cret" };

test("stored klines lie in the database unless HISTORY_URL says where else", () => {
  expect(readEnv({})).toMatchObject({ HISTORY_CACHE_MB: 64 });
  expect(readEnv({ HISTORY_URL: "" }).HISTORY_URL).toBeUndefined();
  expect(historyOptions(readEnv({ HISTORY_CACHE_MB: "256" }), clock)).toEqual({ historyCacheMb: 256 });
  expect(readEnv({ HISTORY_URL: address() }).HISTORY_URL).toEqual({ kind: "directory", folder });
  for (const HISTORY_URL of [address(), "s3://klines"])
    expect(historyOptions(readEnv({ HISTORY_URL, ...KEY }), clock).segmentStore).toBeDefined();
});

test.each([
  ["s3://klines", "https://klines.s3.us-east-1.amazonaws.com", "", "us-east-1"],
  ["s3://klines/", "https://klines.s3.us-east-1.amazonaws.com", "", "us-east-1"],
  ["s3://klines/spotwire/a?region=eu-central-1", "https://klines.s3.eu-central-1.amazonaws.com", "spotwire/a/", "eu-central-1"],
  ["s3://my.klines/a/", "https://s3.us-east-1.amazonaws.com/my.klines", "a/", "us-east-1"],
  ["s3://klines/a?endpoint=http://minio:9000/&region=local", "http://minio:9000/klines", "a/", "local"],
  ["s3://klines?endpoint=https%3A%2F%2Fgateway.internal%2Fs3", "https://gateway.internal/s3/klines", "", "us-east-1"],
])("HISTORY_URL=%s is the bucket at %s with the prefix %j in %s", (HISTORY_URL, place, prefix, region) => {
  expect(readEnv({ HISTORY_URL, ...KEY }).HISTORY_URL).toMatchObject({ kind: "bucket", address: place, prefix, region });
});

test.each([
  "klines",
  "http://minio:9000/klines",
  "/var/lib/spotwire",
  "file://",
  "file://host/var/lib",
  "file:///nowhere/at/all",
  "file:///tmp%2Fa",
  address("/file"),
  `${address()}?a=b`,
  "s3://",
  "s3://K",
  "s3://klines/a//b",
  "s3://klines/a/.hidden",
  "s3://klines/a b",
  "s3://klines?endpoint=minio:9000",
  "s3://klines?endpoint=ftp://minio",
  "s3://klines?endpoint=http://user:s3cret@minio",
  "s3://klines?region=eu central",
  "s3://klines?regoin=eu-central-1",
  "s3://AKIDEXAMPLE:s3cret@klines",
])("HISTORY_URL=%s is refused at the start by its name, and the message contains no secret", (HISTORY_URL) => {
  const start = () => readEnv({ HISTORY_URL, ...KEY });
  expect(start).toThrow(/^Wrong configuration:\n {2}`HISTORY_URL` must /);
  expect(start).not.toThrow("s3cret");
});

test("a bucket needs a key, whose secret may be in a file", () => {
  const HISTORY_URL = "s3://klines";
  expect(() => readEnv({ HISTORY_URL })).toThrow("`AWS_ACCESS_KEY_ID` is required with an s3:// HISTORY_URL.");
  expect(() => readEnv({ HISTORY_URL, AWS_ACCESS_KEY_ID: "a" })).toThrow("`AWS_SECRET_ACCESS_KEY` is required");
  const file = join(folder, "secret");
  writeFileSync(file, "s3cret\n");
  expect(readEnv({ HISTORY_URL, AWS_ACCESS_KEY_ID: "a", AWS_SECRET_ACCESS_KEY_FILE: file })).toMatchObject({
    AWS_SECRET_ACCESS_KEY: "s3cret",
  });
});

test.each(["7", "65537", "1.5", "all"])("HISTORY_CACHE_MB=%s is refused", (HISTORY_CACHE_MB) => {
  expect(() => readEnv({ HISTORY_CACHE_MB })).toThrow(/^Wrong configuration:\n {2}`HISTORY_CACHE_MB` /);
});
