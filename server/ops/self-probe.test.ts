import { createServer, type RequestListener, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { networkInterfaces } from "node:os";
import { afterEach, describe, expect, test } from "vitest";
import { ERRORS } from "#lib/contract/errors";
import { createSelfProbe } from "./self-probe";

const servers: Server[] = [];
afterEach(() => {
  for (const server of servers.splice(0)) {
    server.close();
    server.closeAllConnections();
  }
});

const REFUSAL = JSON.stringify({ code: ERRORS.unauthorized.code });
const refuse: RequestListener = (_, response) => void response.writeHead(401).end(REFUSAL);

const SHUT = { rest: false, stream: false, stored: true };
const reachable = async () => true;
/** Name of the interface that has ::1; undefined on a machine without IPv6. */
const LOOPBACK_6 = Object.entries(networkInterfaces()).find(([, found]) => found?.some(({ address }) => address === "::1"))?.[0];

/** Probes a server that answers requests, and optionally upgrades, in the given way. */
async function knock(onRequest: RequestListener, upgrade: string | undefined, store = reachable) {
  const server = createServer(onRequest);
  servers.push(server);
  server.on("upgrade", (_, socket) => (upgrade === undefined ? socket.destroy() : socket.end(upgrade)));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return createSelfProbe({ address: { address: "127.0.0.1", port }, store })();
}

/** Listens on IPv6 only for an IPv6 address, so that both families can use the same port. */
async function listen(host: string, port: number, onRequest: RequestListener): Promise<number> {
  const server = createServer(onRequest);
  servers.push(server);
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen({ host, port, ipv6Only: true }, resolve);
  });
  return (server.address() as AddressInfo).port;
}

const REFUSED_UPGRADE = `HTTP/1.1 401 Unauthorized\r\nConnection: close\r\nContent-Length: ${REFUSAL.length}\r\n\r\n${REFUSAL}`;

describe("the self-probe", () => {
  test("REST and stream are reported healthy when both refuse a call without a key", async () => {
    expect(await knock(refuse, REFUSED_UPGRADE)).toEqual({ rest: true, stream: true, stored: true });
  });

  test("REST and stream are reported separately", async () => {
    expect(await knock(refuse, undefined)).toEqual({ rest: true, stream: false, stored: true });
    const fail: RequestListener = (_, response) => void response.writeHead(500).end("{}");
    expect(await knock(fail, REFUSED_UPGRADE)).toEqual({ rest: false, stream: true, stored: true });
  });

  test("a foreign answer and an unavailable database are reported as unhealthy", async () => {
    const proxy: RequestListener = (_, response) => void response.writeHead(401).end("<html>Sign in</html>");
    expect(await knock(proxy, undefined)).toEqual({ rest: false, stream: false, stored: true });
    const away = () => Promise.reject(new Error("away"));
    expect(await knock(refuse, REFUSED_UPGRADE, away)).toEqual({ rest: false, stream: false, stored: false });
  });

  test("REST and stream are reported unhealthy when nothing listens", async () => {
    expect(await createSelfProbe({ address: { address: "127.0.0.1", port: 1 }, store: reachable })()).toEqual(SHUT);
  });

  test("an address whose zone no longer exists is reported as unhealthy, and nothing is thrown", async () => {
    const address = { address: "fe80::1%nowhere", port: 1 };
    expect(await createSelfProbe({ address, store: reachable })()).toEqual(SHUT);
  });

  test.skipIf(LOOPBACK_6 === undefined)("an address with a zone, which no URL can contain, is probed", async () => {
    const port = await listen("::1", 0, refuse);
    expect(await createSelfProbe({ address: { address: `::1%${LOOPBACK_6}`, port }, store: reachable })()).toMatchObject({
      rest: true,
    });
  });

  test.skipIf(LOOPBACK_6 === undefined).each([
    ["0.0.0.0", "::"],
    ["::", "0.0.0.0"],
  ])("a process that listens on all addresses of %s is not mistaken for another one on %s", async (own, others) => {
    const fail: RequestListener = (_, response) => void response.writeHead(500).end("{}");
    const port = await listen(own, 0, refuse);
    await listen(others, port, fail);
    expect(await createSelfProbe({ address: { address: own, port }, store: reachable })()).toMatchObject({ rest: true });
    expect(await createSelfProbe({ address: { address: others, port }, store: reachable })()).toMatchObject({ rest: false });
  });

  test("a missing answer is reported as unhealthy after the time limit", async () => {
    expect(await knock(() => undefined, REFUSED_UPGRADE)).toEqual({ rest: false, stream: true, stored: true });
  });
});
