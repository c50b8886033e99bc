import { connect } from "node:net";

/** The envelope of every answer under /api/v1. */
export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly code: number;
  readonly message: string;
  readonly data: Record<string, unknown>;
  /** The body as received. */
  readonly text: string;
}

interface CallOptions {
  method?: string;
  /** null sends no key. */
  key?: string | null;
  headers?: Record<string, string>;
  body?: string;
}

/** A client with its own address, so that limits per client address start from zero. */
export interface Stranger {
  /** Calls a path and reads the envelope; any other non-empty body is an error. */
  call(path: string, options?: CallOptions): Promise<Answer>;
}

const RAW_TIMEOUT_MS = 60_000;

/** Creates a client of the product at `baseUrl`, which must trust 127.0.0.1 as a proxy. */
export function stranger(baseUrl: string, address: string, demoKey: string | undefined): Stranger {
  return {
    async call(path, { method = "GET", key = demoKey ?? null, headers = {}, body } = {}) {
      const authorization = key === null ? {} : { authorization: `Bearer ${key}` };
      const response = await fetch(baseUrl + path, {
        method,
        headers: { "x-forwarded-for": address, ...authorization, ...headers },
        ...(body === undefined ? {} : { body }),
      });
      const text = await response.text();
      const { status } = response;
      if (text === "") return { status, headers: response.headers, code: Number.NaN, message: "", data: {}, text };
      const envelope = JSON.parse(text) as Pick<Answer, "code" | "message" | "data">;
      return { status, headers: response.headers, ...envelope, text };
    },
  };
}

/** Sends bytes that no HTTP client would send, and reads until the connection ends. */
export function rawRequest(baseUrl: string, bytes: string): Promise<string> {
  const { hostname, port } = new URL(baseUrl);
  return new Promise((resolve, reject) => {
    const socket = connect(Number(port), hostname, () => socket.write(bytes));
    let text = "";
    socket.setTimeout(RAW_TIMEOUT_MS, () => socket.destroy(new Error(`no answer in ${RAW_TIMEOUT_MS} ms: ${text}`)));
    socket.on("data", (chunk) => {
      text += chunk.toString();
    });
    socket.on("error", (error) => (text === "" ? reject(error) : resolve(text)));
    socket.on("close", () => resolve(text));
  });
}
