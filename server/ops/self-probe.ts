import { request } from "node:http";
import type { AddressInfo } from "node:net";
import { ERRORS, httpStatus } from "#lib/contract/errors";
import { STREAM_PATH } from "#lib/contract/stream";
import { operations } from "#lib/operations/declarations";
import type { ProbeResult } from "#server/store/market/health";

const TIMEOUT_MS = 2_000;
const NO_KEY = httpStatus("unauthorized");
const UPGRADE = {
  connection: "Upgrade",
  upgrade: "websocket",
  "sec-websocket-version": "13",
  // Any 16 bytes will do: the handshake is refused because it has no API key.
  "sec-websocket-key": Buffer.alloc(16).toString("base64"),
};

/** The loopback address of a process that listens on every address; at `localhost` another process may answer. */
const LOOPBACK: Readonly<Record<string, string>> = { "0.0.0.0": "127.0.0.1", "::": "::1" };

type Listening = Pick<AddressInfo, "address" | "port">;

/** The error code in the answer to a call without a key; undefined without such an answer. */
function codeOf({ address, port }: Listening, path: string, headers: Record<string, string>): Promise<number | undefined> {
  return new Promise((resolve) => {
    // Not a URL: it cannot hold the zone of a link-local address.
    const target = { host: LOOPBACK[address] ?? address, port, path };
    const call = request({ ...target, headers, timeout: TIMEOUT_MS, agent: false }, (response) => {
      let text = "";
      response.setEncoding("utf8");
      response.on("data", (chunk: string) => {
        text += chunk;
      });
      response.on("end", () => resolve(response.statusCode === NO_KEY ? codeIn(text) : undefined));
      response.on("error", () => resolve(undefined));
    });
    call.on("timeout", () => call.destroy());
    call.on("error", () => resolve(undefined));
    call.end();
  });
}

function codeIn(text: string): number | undefined {
  try {
    return (JSON.parse(text) as { code?: number }).code;
  } catch {
    return undefined;
  }
}

interface SelfProbeOptions {
  /** Where this process listens. */
  readonly address: Listening;
  /** Whether the database answers. */
  readonly store: () => Promise<boolean>;
}

/**
 * Creates the self-probe: it calls this process over the network, like a client without a key. The expected refusal proves that
 * the server, its routing and its guards work. It uses no quota, and no failed attempt is counted for the address.
 */
export function createSelfProbe({ address, store }: SelfProbeOptions): () => Promise<ProbeResult> {
  return async () => {
    const [rest, stream, stored] = await Promise.all([
      codeOf(address, operations.instruments.path, {}),
      codeOf(address, STREAM_PATH, UPGRADE),
      store().catch(() => false),
    ]);
    const refused = ERRORS.unauthorized.code;
    return { rest: rest === refused && stored, stream: stream === refused && stored, stored };
  };
}
