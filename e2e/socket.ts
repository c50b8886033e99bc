import { WebSocket } from "ws";
import { SERVER_MESSAGES, type ServerMessage, STREAM_PATH } from "#lib/contract/stream";

const MESSAGE_TIMEOUT_MS = 60_000;

/** A parsed message with its original text. */
export type Received<Type extends ServerMessage["type"] = ServerMessage["type"]> = Extract<ServerMessage, { type: Type }> & {
  readonly text: string;
};

/** How a connection ended. */
interface Closed {
  readonly code: number;
  readonly reason: string;
}

/** A raw WebSocket that validates every received message against the contract. */
export interface StreamClient {
  /** All messages received so far. */
  readonly messages: readonly Received[];
  /** The first message of a type, past or future, that matches and was not taken before. */
  next<Type extends ServerMessage["type"]>(type: Type, fits?: (message: Received<Type>) => boolean): Promise<Received<Type>>;
  send(message: object | string): void;
  /** Sends a message and returns its answer. */
  ask(method: string, params?: object): Promise<Received<"ack"> | Received<"error">>;
  closed(): Promise<Closed>;
  close(): void;
}

/** A refused handshake. */
export class Refused extends Error {
  readonly status: number;
  readonly body: { code: number; message: string; data: Record<string, unknown> };

  constructor(status: number, text: string) {
    super(`${status} ${text}`);
    this.status = status;
    this.body = JSON.parse(text);
  }
}

interface Shown {
  key?: string;
  origin?: string;
  protocols?: string[];
  headers?: Record<string, string>;
  query?: string;
}

function read(text: string): Received {
  const message = JSON.parse(text) as ServerMessage;
  SERVER_MESSAGES[message.type].parse(message);
  return { ...message, text } as Received;
}

/**
 * Opens the stream of the product.
 * @throws Refused with the envelope of a handshake that was answered over HTTP
 */
export async function openSocket(
  baseUrl: string,
  { key, origin, protocols = [], headers = {}, query = "" }: Shown,
): Promise<StreamClient> {
  const authorization = key === undefined ? {} : { authorization: `Bearer ${key}` };
  const socket = new WebSocket(baseUrl.replace(/^http/, "ws") + STREAM_PATH + query, protocols, {
    ...(origin !== undefined && { origin }),
    headers: { ...authorization, ...headers },
  });
  const messages: Received[] = [];
  const taken = new Set<Received>();
  const waiters = new Set<() => void>();
  socket.on("message", (data) => {
    messages.push(read(data.toString()));
    for (const look of waiters) look();
  });
  const ended = new Promise<Closed>((resolve) =>
    socket.once("close", (code, reason) => resolve({ code, reason: String(reason) })),
  );
  await new Promise<void>((resolve, reject) => {
    socket.once("open", resolve);
    socket.once("error", reject);
    socket.once("unexpected-response", (_, response) => {
      let text = "";
      response.on("data", (chunk) => {
        text += chunk;
      });
      response.on("end", () => reject(new Refused(response.statusCode ?? 0, text)));
    });
  });
  socket.on("error", () => undefined);

  function take(name: string, fits: (message: Received) => boolean): Promise<Received> {
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => {
        waiters.delete(look);
        reject(new Error(`no ${name} came:\n${messages.map(({ text }) => text.slice(0, 200)).join("\n")}`));
      }, MESSAGE_TIMEOUT_MS);
      const look = () => {
        const found = messages.find((one) => !taken.has(one) && fits(one));
        if (found === undefined) return;
        clearTimeout(timer);
        waiters.delete(look);
        taken.add(found);
        resolve(found);
      };
      waiters.add(look);
      look();
    });
  }

  let id = 0;
  const send = (message: object | string) => socket.send(typeof message === "string" ? message : JSON.stringify(message));
  return {
    messages,
    next: (type, fits = () => true) => take(type, (one) => one.type === type && fits(one as never)) as never,
    send,
    async ask(method, params) {
      id += 1;
      const asked = `ask ${id}`;
      send({ id: asked, method, ...(params && { params }) });
      return take("answer", (one) => (one.type === "ack" || one.type === "error") && one.id === asked) as never;
    },
    closed: () => ended,
    close: () => socket.close(),
  };
}
