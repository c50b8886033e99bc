import { createHmac, randomBytes } from "node:crypto";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, expect, test } from "vitest";
import { type Clock, systemClock } from "#lib/clock";
import { SegmentMissing, SegmentStoreAway } from "#lib/storage-errors";
import { S3_CREDENTIALS, startS3Server } from "#lib/testing/s3-server";
import { createBucketStore } from "./bucket-store";
import { objectName } from "./object-name";
import { segmentId } from "./parquet-file";
import type { Queries, SegmentStore } from "./segment-store";

/** A bucket has no use for a connection to the database. */
const NO_DATABASE = null as unknown as Queries;
/** Waits between two attempts take no time. */
const clock: Clock = { ...systemClock, wait: (ms, signal) => systemClock.wait(signal === undefined ? 0 : ms, signal) };
const credentials = { accessKeyId: "AKIDEXAMPLE", secretAccessKey: "s3cret-of-the-bucket", sessionToken: "t0ken-of-the-bucket" };

const servers: Server[] = [];
afterEach(() => {
  for (const server of servers.splice(0)) {
    server.closeAllConnections();
    server.close();
  }
});

/** A server that answers what a test says. */
async function scripted(answer: (request: IncomingMessage, response: ServerResponse) => void) {
  const requests: IncomingMessage[] = [];
  const server = createServer((request, response) => {
    requests.push(request);
    request.resume().once("end", () => answer(request, response));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  servers.push(server);
  const { port } = server.address() as AddressInfo;
  const endpoint = `http://127.0.0.1:${port}`;
  return { requests, endpoint, store: storeAt(endpoint), close: () => server.close() };
}

function storeAt(endpoint: string, requestMaxMs = 5_000): SegmentStore {
  const place = {
    kind: "bucket",
    address: `${endpoint}/klines`,
    bucket: "klines",
    prefix: "a/",
    region: "eu-central-1",
  } as const;
  return createBucketStore({ place, credentials, clock, requestMaxMs });
}

const bytes = randomBytes(50);
const id = segmentId(bytes);
const error = (code: string) =>
  `<?xml version="1.0"?><Error><Code>${code}</Code><AWSAccessKeyId>AKIDEXAMPLE</AWSAccessKeyId></Error>`;

const CALLS: [name: string, call: (store: SegmentStore) => Promise<unknown>][] = [
  ["put", (store) => store.put(NO_DATABASE, id, bytes)],
  ["get", (store) => store.get(NO_DATABASE, [id])],
  ["range", (store) => store.range(NO_DATABASE, id, 0, 5)],
  ["list", (store) => store.list(NO_DATABASE, { beforeMs: 1, after: "", limit: 5 })],
  ["drop", (store) => store.drop(NO_DATABASE, [id], Date.now())],
];

async function failureOf(work: Promise<unknown>): Promise<Error> {
  const failure = await work.then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  expect(failure).toBeInstanceOf(SegmentStoreAway);
  const { message } = failure as Error;
  expect(message).toMatch(/^The bucket of stored klines klines at 127\.0\.0\.1:\d+ cannot be used: /);
  for (const secret of Object.values(credentials)) expect(message).not.toContain(secret);
  return failure as Error;
}

test.each(CALLS)(
  "%s on a bucket that never answers ends in bounded time, with an error that names the bucket",
  async (_, call) => {
    const { endpoint } = await scripted(() => undefined);
    expect((await failureOf(call(storeAt(endpoint, 30)))).message).toContain("no answer within 30 ms");
  },
);

test.each(CALLS)("%s on a bucket that cannot be reached says so", async (_, call) => {
  const { store, close } = await scripted(() => undefined);
  close();
  expect((await failureOf(call(store))).message).toContain("ECONNREFUSED");
});

test.each(CALLS)("%s on a bucket whose answer is cut off says so", async (name, call) => {
  if (name === "drop") return;
  const { store } = await scripted((_, response) => {
    response.writeHead(name === "range" ? 206 : 200, { "content-length": "100" });
    response.write("half", () => response.destroy());
  });
  await failureOf(call(store));
});

test.each([
  [403, "AccessDenied", 1],
  [403, "SignatureDoesNotMatch", 1],
  [404, "NoSuchBucket", 1],
  [301, "PermanentRedirect", 1],
  [400, "XAmzContentSHA256Mismatch", 1],
  [503, "SlowDown", 3],
  [500, "InternalError", 3],
  [507, "XMinioStorageFull", 3],
])("a bucket that answers %i %s cannot be used, and is asked %i times", async (status, code, times) => {
  const { requests, store } = await scripted((_, response) => response.writeHead(status).end(error(code)));
  for (const [name, call] of CALLS) {
    // HEAD, with which a segment is looked at before it is dropped, has no body.
    if (name === "drop") continue;
    requests.length = 0;
    expect((await failureOf(call(store))).message).toContain(`it answered ${status} ${code}`);
    expect(requests).toHaveLength(times);
  }
});

test("a bucket that is busy for a moment is asked again", async () => {
  let turn = 0;
  const { store } = await scripted((_, response) => {
    turn += 1;
    if (turn === 1) response.destroy();
    else if (turn === 2) response.writeHead(503).end(error("SlowDown"));
    else response.writeHead(200).end(bytes);
  });
  expect(Buffer.compare((await store.get(NO_DATABASE, [id])).get(id) as Uint8Array, bytes)).toBe(0);
});

test("an object that is not there is missing, and nothing is asked twice", async () => {
  const { requests, store } = await scripted((_, response) => response.writeHead(404).end(error("NoSuchKey")));
  await expect(store.get(NO_DATABASE, [id])).rejects.toThrow(new SegmentMissing(`segment ${id} is not in the bucket klines`));
  expect(requests).toHaveLength(1);
  await expect(store.get(NO_DATABASE, ["../secret"])).rejects.toThrow(SegmentMissing);
  expect(requests).toHaveLength(1);
});

test("a bucket is told the hash of what it is to store, so that it can refuse other bytes", async () => {
  const { requests, store } = await scripted((_, response) => response.writeHead(200).end());
  await store.put(NO_DATABASE, id, bytes);
  const [{ url, headers } = {} as IncomingMessage] = requests;
  expect(url).toBe(`/klines/a/${id.slice(0, 2)}/${id}.parquet`);
  expect(headers).toMatchObject({ "x-amz-content-sha256": id, "content-length": "50" });
});

test("a list goes on where the page before ended, however few names a server sends, and skips what is no segment", async () => {
  const ids = Array.from({ length: 7 }, (_, at) => segmentId(Buffer.from([at]))).sort();
  const keys = [
    ...ids.map((each) => `a/${objectName(each)}`),
    "a/README.md",
    `a/zz/${"0".repeat(64)}.parquet`,
    "a/00/x.parquet",
  ].sort();
  const { requests, store } = await scripted(({ url }, response) => {
    const after = new URL(url ?? "", "http://x").searchParams.get("start-after") ?? "";
    const left = keys.filter((key) => key > after);
    const entries = left
      .slice(0, 2)
      .map((key) => `<Contents><Key>${key}</Key><LastModified>2026-01-02T03:04:05.000Z</LastModified></Contents>`);
    const more = `<IsTruncated>${left.length > 2}</IsTruncated>`;
    response.end(`<?xml version="1.0"?><ListBucketResult>${more}${entries.join("")}</ListBucketResult>`);
  });
  const list = (query: { beforeMs?: number; after?: string; limit?: number }) =>
    store.list(NO_DATABASE, { beforeMs: Date.UTC(2026, 5), after: "", limit: 100, ...query });
  expect(await list({})).toEqual(ids);
  expect(await list({ after: ids[2] as string })).toEqual(ids.slice(3));
  expect(await list({ limit: 3 })).toEqual(ids.slice(0, 3));
  expect(await list({ beforeMs: Date.UTC(2026, 0, 2, 3, 4, 5) })).toEqual([]);
  expect(requests.every(({ url }) => url?.startsWith("/klines/?list-type=2"))).toBe(true);
});

/** The signature of a request, computed from the description of AWS (Signature Version 4) and not by the client that signed it. */
function signatureOf({ method, url = "", headers }: IncomingMessage): string {
  const { pathname, searchParams } = new URL(url, "http://x");
  const [, date = "", signed = ""] = /Credential=\w+\/(\d{8})\/.*SignedHeaders=([^,]+)/.exec(headers.authorization ?? "") ?? [];
  const pairs = [...searchParams].map((pair) => pair.map(encodeURIComponent).join("=")).sort();
  const lines = signed.split(";").map((name) => `${name}:${headers[name]}\n`);
  const canonical = [method, pathname, pairs.join("&"), lines.join(""), signed, headers["x-amz-content-sha256"]].join("\n");
  const scope = [date, "eu-central-1", "s3", "aws4_request"];
  const text = ["AWS4-HMAC-SHA256", headers["x-amz-date"], scope.join("/"), segmentId(Buffer.from(canonical))].join("\n");
  const hmac = (key: string | Buffer, part: string) => createHmac("sha256", key).update(part).digest();
  const key = scope.reduce<string | Buffer>(hmac, `AWS4${credentials.secretAccessKey}`);
  return hmac(key, text).toString("hex");
}

test.each(CALLS)("%s signs what it asks as AWS describes it, with the token of a temporary key", async (_, call) => {
  const date = new Date(0).toUTCString();
  const { requests, store } = await scripted((_request, response) =>
    response.writeHead(200, { "last-modified": date }).end(bytes),
  );
  await call(store);
  expect(requests.length).toBeGreaterThan(0);
  for (const request of requests) {
    expect(request.headers.authorization).toContain(`Signature=${signatureOf(request)}`);
    expect(request.headers.authorization).toMatch(/SignedHeaders=host;x-amz-content-sha256;x-amz-date;x-amz-security-token,/);
    expect(request.headers["x-amz-security-token"]).toBe(credentials.sessionToken);
  }
});

test("a real server refuses a wrong key and an absent bucket, and the error does not contain the key", async () => {
  const { place, close } = await startS3Server();
  const wrong = createBucketStore({ place, clock, credentials });
  await expect(wrong.put(NO_DATABASE, id, bytes)).rejects.toThrow(/cannot be used: it answered 403 InvalidAccessKeyId\.$/);
  const elsewhere = createBucketStore({ place: { ...place, address: `${place.address}x` }, clock, credentials: S3_CREDENTIALS });
  await expect(elsewhere.get(NO_DATABASE, [id])).rejects.toThrow(/it answered 404 NoSuchBucket\.$/);
  await close();
});
