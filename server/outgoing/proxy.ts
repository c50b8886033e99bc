import http, { type ClientRequest } from "node:http";
import https from "node:https";
import { Agent, type AgentConnectOpts } from "agent-base";
import { HttpsProxyAgent } from "https-proxy-agent";
import { getProxyForUrl } from "proxy-from-env";
import { EnvHttpProxyAgent, setGlobalDispatcher } from "undici";
import type { Env } from "#lib/env";

/** Hosts of this machine, which no proxy reaches. */
const LOCAL_HOSTS = ["localhost", "127.0.0.1", "[::1]"];
const isLocal = (hostname: string) => LOCAL_HOSTS.includes(hostname) || hostname === "::1" || hostname.startsWith("127.");

/** The proxy for an address (http, https, ws or wss) by HTTPS_PROXY, HTTP_PROXY and NO_PROXY; empty where it is reached directly. */
export function proxyFor(address: string | URL): string {
  const url = new URL(address);
  const host = url.host.toLowerCase();
  return isLocal(url.hostname) ? "" : getProxyForUrl(`${/^(wss|https):$/.test(url.protocol) ? "https" : "http"}://${host}`);
}

/** An agent that connects through the proxy for each address, or directly. With a proxy, the proxy alone resolves names. */
export class OutgoingAgent extends Agent {
  override connect(_request: ClientRequest, options: AgentConnectOpts): http.Agent {
    const { secureEndpoint, host, port } = options;
    const name = host?.includes(":") ? `[${host}]` : host;
    const proxy = host == null ? "" : proxyFor(`${secureEndpoint ? "https" : "http"}://${name}:${port}`);
    if (proxy !== "") return new HttpsProxyAgent(proxy);
    return secureEndpoint ? new https.Agent() : new http.Agent();
  }
}

/**
 * Makes every HTTP and WebSocket connection that this process opens to another machine go through the proxies of the environment.
 * Does nothing where none is set. Connections that choose an agent of their own (`agent`, `dispatcher`) are not changed.
 */
export function connectThroughProxies({
  HTTPS_PROXY,
  HTTP_PROXY,
  NO_PROXY,
}: Pick<Env, "HTTPS_PROXY" | "HTTP_PROXY" | "NO_PROXY">): void {
  if (HTTPS_PROXY === undefined && HTTP_PROXY === undefined) return;
  const noProxy = [...LOCAL_HOSTS, NO_PROXY ?? ""].join(",");
  setGlobalDispatcher(new EnvHttpProxyAgent({ noProxy, httpProxy: HTTP_PROXY ?? "", httpsProxy: HTTPS_PROXY ?? "" }));
  const agent = new OutgoingAgent();
  http.globalAgent = agent;
  https.globalAgent = agent as unknown as https.Agent;
}
