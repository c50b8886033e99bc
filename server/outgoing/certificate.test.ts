import { X509Certificate } from "node:crypto";
import { once } from "node:events";
import { readFile } from "node:fs/promises";
import { createServer } from "node:https";
import { type AddressInfo, createServer as createTcp } from "node:net";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type CertificateMaker, certificateMaker } from "#lib/testing/certificates";
import { certificateEnd } from "./certificate";

let maker: CertificateMaker | undefined;
beforeAll(async () => {
  maker = await certificateMaker();
});
afterAll(() => maker?.close());

test("the end of a certificate is read from what answers, also when nobody trusts it", async (context) => {
  if (maker === undefined) return context.skip("openssl is not installed");
  const { certFile, keyFile } = await maker.issue("localhost");
  const cert = await readFile(certFile, "utf8");
  const server = createServer({ cert, key: await readFile(keyFile) });
  await once(server.listen(0, "127.0.0.1"), "listening");
  const { port } = server.address() as AddressInfo;
  expect(await certificateEnd(`https://localhost:${port}`)).toBe(Date.parse(new X509Certificate(cert).validTo));
  server.close();
});

test("without HTTPS, an answer or TLS, the end is not known", async () => {
  expect(await certificateEnd("http://localhost:3000")).toBeNull();
  const plain = createTcp((socket) => socket.resume().end("no TLS\n"));
  await once(plain.listen(0, "127.0.0.1"), "listening");
  const { port } = plain.address() as AddressInfo;
  expect(await certificateEnd(`https://127.0.0.1:${port}`)).toBeNull();
  plain.close();
  await once(plain, "close");
  expect(await certificateEnd(`https://127.0.0.1:${port}`)).toBeNull();
});
