import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, expect, test } from "vitest";
import { CLIENT_PACKAGE, pythonSdist, pythonWheel } from "#lib/docs/client-names";
import { clientPackage, pythonPackage } from "./client-package";

const folder = mkdtempSync(path.join(tmpdir(), "client-package-"));
afterAll(() => rmSync(folder, { recursive: true }));

test("the client's package is sent as a file, and only once to a reader who keeps it", async () => {
  writeFileSync(path.join(folder, CLIENT_PACKAGE), "a package");
  const ask = (known?: string) =>
    clientPackage(
      new Request("http://spotwire.test/spotwire-client.tgz", { headers: known ? { "if-none-match": known } : {} }),
      folder,
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
  expect((await clientPackage(new Request("http://spotwire.test/"), path.join(folder, "none"))).status).toBe(404);
});

test.each([
  [pythonWheel("0.1.0"), "application/zip"],
  [pythonSdist("0.1.0"), "application/gzip"],
])("the Python client is sent under the name that pip reads: %s", async (name, type) => {
  writeFileSync(path.join(folder, name), "a wheel");
  const request = new Request(`http://spotwire.test/downloads/${name}`);
  const answer = await pythonPackage(request, name, folder);
  expect([answer.status, await answer.text(), answer.headers.get("content-type")]).toEqual([200, "a wheel", type]);
  const known = new Request(request, { headers: { "if-none-match": answer.headers.get("etag") ?? "" } });
  expect((await pythonPackage(known, name, folder)).status).toBe(304);
});

test.each(["spotwire_client-9.9.9.tar.gz", "../package.json", "..%2Fpackage.json", "secret", CLIENT_PACKAGE, ""])(
  "nothing else is sent as the Python client: %s",
  async (name) => {
    writeFileSync(path.join(folder, "secret"), "a secret");
    const answer = await pythonPackage(new Request("http://spotwire.test/"), name, folder);
    expect([answer.status, await answer.text()]).toEqual([404, expect.stringContaining("another version")]);
  },
);
