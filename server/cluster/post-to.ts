import { Agent, type IncomingMessage, request } from "node:http";
import { Readable } from "node:stream";
import { json } from "node:stream/consumers";
import { pipeline } from "node:stream/promises";
import { Agent as Dispatcher } from "undici";

/** In front of the path of a socket, where a URL would have its host. */
const SOCKET = "unix:";
/** Connects to another node of this installation, which no proxy reaches. */
const NODES = new Dispatcher();

interface Post {
  readonly headers: Readonly<Record<string, string>>;
  readonly body: AsyncIterable<Uint8Array>;
  readonly maxMs: number;
}

/** The address of a process of this node, at a socket, for `postTo`; a path without a colon. */
export function socketAddress(path: string): string {
  return `${SOCKET}${path}:`;
}

async function postToSocket(socketPath: string, path: string, { headers, body, maxMs }: Post): Promise<unknown> {
  // The other process answers when it has the last frame. If it closed the connection then, the end of the request would break it
  // before the answer is read.
  const agent = new Agent({ keepAlive: true });
  try {
    const call = request({ socketPath, path, method: "POST", headers, agent, signal: AbortSignal.timeout(maxMs) });
    const answered = new Promise<IncomingMessage>((resolve, reject) => call.once("response", resolve).on("error", reject));
    const sent = pipeline(Readable.from(body), call).catch(() => undefined);
    const answer = await json(await answered);
    call.destroy();
    await sent;
    return answer;
  } finally {
    agent.destroy();
  }
}

/**
 * Streams a body to another process, at a URL or a socket of this machine; returns its answer, which is JSON.
 * @throws Error when it cannot be reached or does not answer in time
 */
export async function postTo(target: string, { headers, body, maxMs }: Post): Promise<unknown> {
  if (target.startsWith(SOCKET)) {
    const [socketPath = "", path = ""] = target.slice(SOCKET.length).split(":");
    return postToSocket(socketPath, path, { headers, body, maxMs });
  }
  const response = await fetch(target, {
    method: "POST",
    headers,
    body,
    duplex: "half",
    signal: AbortSignal.timeout(maxMs),
    dispatcher: NODES,
  } as unknown as RequestInit);
  return response.json();
}
