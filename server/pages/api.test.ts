import { expect, test } from "vitest";
import { PORTAL_ROUTES, portalApi } from "./api";

/** What serves a path, as Allow names it; the status where nothing does. */
async function servedAt(path: string): Promise<string | number | null> {
  const { status, headers } = await portalApi(new Request(`http://host/api/portal${path}`, { method: "OPTIONS" }));
  return status === 204 ? headers.get("allow") : status;
}

const KEY = "PATCH, OPTIONS";
const REQUEST = "GET, HEAD, OPTIONS";

test("no route is declared twice", () => {
  const names = PORTAL_ROUTES.map(({ name }) => name);
  expect(names.filter((name, at) => names.indexOf(name) !== at)).toEqual([]);
});

test.each([
  ["/keys", "GET, HEAD, POST, OPTIONS"],
  ["/keys?path=x", "GET, HEAD, POST, OPTIONS"],
  ["/logs/../keys", "GET, HEAD, POST, OPTIONS"],
  // A fixed part goes before a parameter, where the whole path has one.
  ["/keys/use", "GET, HEAD, OPTIONS"],
  ["/keys/x", KEY],
  ["/keys/x/revoke", "POST, OPTIONS"],
  ["/keys/use/revoke", "POST, OPTIONS"],
  ["/keys/revoke", KEY],
  // Only a parameter may be percent-encoded, and an encoded slash is a part of it.
  ["/%6beys", 404],
  ["/keys/%75se", KEY],
  ["/keys%2Fuse", 404],
  ["/keys/use%2F", KEY],
  ["/keys/%2F/revoke", "POST, OPTIONS"],
  ["/keys/x/revoke%2F", 404],
  ["/logs/a%2Fb", REQUEST],
  ["/logs/%00", REQUEST],
  ["/logs/%", REQUEST],
  ["/logs/[request_id]", REQUEST],
  ["/admin/data/[ticker]/years", REQUEST],
  ["/email/%63ancel", 404],
  // An empty part is none.
  ["", 404],
  ["/", 404],
  ["//keys", 404],
  ["/keys/", 404],
  ["/keys//revoke", 404],
  ["/keys/x/", 404],
  ["/logs//x", 404],
  // What every object has is no route.
  ["/__proto__", 404],
  ["/constructor", 404],
  ["/toString/call", 404],
  ["/keys/x/__proto__", 404],
  ["/keys/x/constructor", 404],
  ["/keys/__proto__", KEY],
  ["/keys/constructor", KEY],
  // Other spellings, parts of paths, and what is no path.
  ["/KEYS", 404],
  ["/keys.json", 404],
  ["/keys/x/y", 404],
  ["/keys/x/revoke/y", 404],
  ["/admin", 404],
  ["/admin/data/x/nothing", 404],
  ["/[...path]", 404],
])("OPTIONS of %s: %s", async (path, served) => {
  expect(await servedAt(path)).toBe(served);
});

test.each([
  ["one part", "x".repeat(1_000_000)],
  ["half a million parts", "x/".repeat(500_000)],
  ["half a million empty parts", "/".repeat(500_000)],
])("a very long path of %s is answered as any other that is too long", async (_, rest) => {
  expect(await servedAt(`/nothing/${rest}`)).toBe(414);
});

test("a parameter may be long", async () => {
  expect(await servedAt(`/keys/${"x".repeat(1_000_000)}`)).toBe(KEY);
});
