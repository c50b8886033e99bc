import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, expect, test } from "vitest";
import { clientPackage } from "./client-package";

const folder = mkdtempSync(path.join(tmpdir(), "client-package-"));
afterAll(() => rmSync(folder, { recursive: true }));

test("the client's package is sent as a file, and only once to a reader who keeps it", async () => {
  const file = path.join(folder, "client.tgz");
  writeFileSync(file, "a package");
  const ask = (known?: string) =>
    clientPackage(
      new Request("http://spotwire.test/spotwire-client.tgz", { headers: known ? { "if-none-match": known } : {} }),
      file,
    );
  const first = await ask();
  expect(await first.text()).toBe("a package");
  expect(Object.fromEntries(first.headers)).toMatchObject({
    "content-type": "application/gzip",
    "content-length": "9",
    "cache-control": "public, no-cache",
  });
  expect((await ask(first.headers.get("etag") ?? "")).status).toBe(304);
  expect((await ask('"another"')).status).toBe(200);
});

test("a service whose pages were never built has no client's package", async () => {
  expect((await clientPackage(new Request("http://spotwire.test/"), path.join(folder, "none.tgz"))).status).toBe(404);
});
