import { lookup } from "node:dns/promises";
import { request } from "node:https";
import { connect as connectTcp, type Socket } from "node:net";
import { connect as connectTls } from "node:tls";
import type { FeedFinding } from "#lib/contract/portal-feeds";
import { SECOND_MS } from "#lib/units";
import { OutgoingAgent, proxyFor } from "#server/outgoing/proxy";

const STEP_MAX_MS = 5 * SECOND_MS;
const PORTS: Readonly<Record<string, number>> = { "http:": 80, "ws:": 80, "https:": 443, "wss:": 443 };

const messageOf = (error: unknown) => {
  const { code, message } = error as NodeJS.ErrnoException;
  return message || code || "no answer";
};

/** Resolves once the socket says `event`. @throws its error, or Error after STEP_MAX_MS */
function opened(socket: Socket, event: "connect" | "secureConnect"): Promise<void> {
  return new Promise((resolve, reject) => {
    const late = () => socket.destroy(new Error(`no answer within ${STEP_MAX_MS / SECOND_MS} s`));
    socket.setTimeout(STEP_MAX_MS, late);
    socket.once("error", reject);
    socket.once(event, () => {
      resolve();
      socket.destroy();
    });
  });
}

/** Resolves to the status with which a proxy answered once it is connected to `url`, encrypted. @throws what failed */
function tunnelled(url: URL): Promise<number> {
  return new Promise((resolve, reject) => {
    const address = url.href.replace(/^wss:/, "https:");
    const asked = request(address, { method: "HEAD", path: "/", agent: new OutgoingAgent(), timeout: STEP_MAX_MS });
    let status = 200;
    asked.once("proxyConnect", ({ statusCode }: { statusCode: number }) => {
      status = statusCode;
    });
    asked.once("timeout", () => asked.destroy(new Error(`no answer within ${STEP_MAX_MS / SECOND_MS} s`)));
    asked.once("error", reject);
    asked.once("response", (answer) => {
      answer.destroy();
      resolve(status);
    });
    asked.end();
  });
}

/** The last step through a proxy: it resolves the name and connects, and TLS is spoken with the far side through it. */
async function encryptionThroughProxy(url: URL): Promise<FeedFinding> {
  const next = "Check HTTPS_PROXY: the proxy must allow this host, and its URL may need a user name and a password.";
  const step = "encryption";
  try {
    const status = await tunnelled(url);
    if (status === 200) return { step, state: "ok", text: `${url.host} has a valid certificate` };
    return { step, state: "failed", text: `the proxy answered ${status} to the connection to ${url.host}`, next };
  } catch (error) {
    return { step, state: "failed", text: `TLS with ${url.host} through the proxy failed: ${messageOf(error)}`, next };
  }
}

/**
 * Tries how far an address can be reached: its name, a TCP connection, and TLS where it has it. Ends after the first failure.
 * No other part of the address than host and port appears in the findings: the rest may hold a key.
 */
export async function* reach(address: string): AsyncGenerator<FeedFinding> {
  const proxy = proxyFor(address);
  const url = new URL(proxy === "" ? address : proxy);
  const host = url.hostname.replace(/^\[|\]$/g, "");
  const port = Number(url.port) || (PORTS[url.protocol] ?? 443);
  const place = `${host}:${port}`;
  try {
    const found = await lookup(host);
    yield { step: "name", state: "ok", text: `${host} is ${found.address}` };
  } catch (error) {
    const next = "Check FEED_URL if it is set, the DNS of this machine or container, and whether it may reach the internet.";
    yield { step: "name", state: "failed", text: `${host} cannot be resolved: ${messageOf(error)}`, next };
    return;
  }
  try {
    await opened(connectTcp({ host, port }), "connect");
    yield { step: "connection", state: "ok", text: `${proxy === "" ? "" : "the proxy "}${place} takes connections` };
  } catch (error) {
    const next = `Let this machine connect to ${place} through its firewall. If it must use a proxy, set HTTPS_PROXY, or FEED_URL to one for this provider.`;
    yield { step: "connection", state: "failed", text: `${place} cannot be reached: ${messageOf(error)}`, next };
    return;
  }
  const target = new URL(address);
  if (target.protocol !== "https:" && target.protocol !== "wss:") return;
  if (proxy !== "") {
    yield await encryptionThroughProxy(target);
    return;
  }
  try {
    await opened(connectTls({ host, port, servername: /^[\d.:]+$/.test(host) ? "" : host }), "secureConnect");
    yield { step: "encryption", state: "ok", text: `${host} has a valid certificate` };
  } catch (error) {
    const next =
      "Check the date of this machine. If a proxy reads encrypted traffic, name its certificate in NODE_EXTRA_CA_CERTS. If FEED_URL is a proxy without TLS, begin it with http:// or ws://.";
    yield { step: "encryption", state: "failed", text: `TLS with ${place} failed: ${messageOf(error)}`, next };
  }
}
