import { createServer, type RequestListener, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, describe, expect, it } from "vitest";
import { ERRORS } from "#lib/contract/errors";
import { createDoorbell } from "./doors";

const servers: Server[] = [];
afterEach(() => {
  for (const server of servers.splice(0)) {
    server.close();
    server.closeAllConnections();
  }
});

const REFUSAL = JSON.stringify({ code: ERRORS.unauthorized.code });
const refuse: RequestListener = (_, response) => void response.writeHead(401).end(REFUSAL);

/** Knocks at a server that answers calls, and upgrades where it does, like this. */
async function knock(onRequest: RequestListener, upgrade: string | undefined, store: () => Promise<boolean> = async () => true) {
  const server = createServer(onRequest);
  servers.push(server);
  server.on("upgrade", (_, socket) => (upgrade === undefined ? socket.destroy() : socket.end(upgrade)));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return createDoorbell({ address: `http://127.0.0.1:${port}`, store })();
}

const REFUSED_UPGRADE = `HTTP/1.1 401 Unauthorized\r\nConnection: close\r\nContent-Length: ${REFUSAL.length}\r\n\r\n${REFUSAL}`;

describe("the doors", () => {
  it("are open when both refuse a call without a key as the service does", async () => {
    expect(await knock(refuse, REFUSED_UPGRADE)).toEqual({ rest: true, stream: true });
  });

  it("are told apart", async () => {
    expect(await knock(refuse, undefined)).toEqual({ rest: true, stream: false });
    const fail: RequestListener = (_, response) => void response.writeHead(500).end("{}");
    expect(await knock(fail, REFUSED_UPGRADE)).toEqual({ rest: false, stream: true });
  });

  it("are shut behind somebody else's answer, and before a database that is away", async () => {
    const proxy: RequestListener = (_, response) => void response.writeHead(401).end("<html>Sign in</html>");
    expect(await knock(proxy, undefined)).toEqual({ rest: false, stream: false });
    const away = () => Promise.reject(new Error("away"));
    expect(await knock(refuse, REFUSED_UPGRADE, away)).toEqual({ rest: false, stream: false });
  });

  it("are shut where nobody listens", async () => {
    expect(await createDoorbell({ address: "http://127.0.0.1:1", store: async () => true })()).toEqual({
      rest: false,
      stream: false,
    });
  });

  it("are shut when no answer comes in time", async () => {
    expect(await knock(() => undefined, REFUSED_UPGRADE)).toEqual({ rest: false, stream: true });
  });
});
