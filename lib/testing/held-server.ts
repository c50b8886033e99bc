import { createServer, type IncomingMessage, request, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { onTestFinished } from "vitest";

/** A request that has arrived and waits. */
export interface HeldRequest {
  readonly method: string;
  readonly path: string;
  /** Sends it on. */
  pass(): void;
}

/** A server before another one: each request waits until the test sends it on. */
export interface HeldServer {
  readonly address: string;
  /** Resolves with the next request, in the order of their arrival. */
  next(): Promise<HeldRequest>;
  /** From now on requests do not wait. */
  open(): void;
}

/** Passes a request on with its headers, so that its signature stays right. */
function sendOn(incoming: IncomingMessage, body: Buffer, answer: ServerResponse, target: URL): void {
  const { method, url: path, headers } = incoming;
  const onward = request({ host: target.hostname, port: target.port, method, path, headers }, (answered) => {
    answer.writeHead(answered.statusCode ?? 0, answered.headers);
    answered.pipe(answer);
  });
  onward.on("error", () => answer.destroy());
  onward.end(body);
}

/** Starts one before the HTTP server at this address; it ends with the test. */
export async function holdRequests(target: string): Promise<HeldServer> {
  const held: HeldRequest[] = [];
  const waiting: ((next: HeldRequest) => void)[] = [];
  let isOpen = false;
  const server = createServer((incoming, answer) => {
    const parts: Buffer[] = [];
    incoming.on("data", (part: Buffer) => parts.push(part));
    incoming.on("end", () => {
      const pass = () => sendOn(incoming, Buffer.concat(parts), answer, new URL(target));
      if (isOpen) return pass();
      const one = { method: incoming.method ?? "", path: incoming.url ?? "", pass };
      const first = waiting.shift();
      if (first === undefined) held.push(one);
      else first(one);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => {
    server.close();
    server.closeAllConnections();
  });
  return {
    address: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async next() {
      return held.shift() ?? new Promise((resolve) => waiting.push(resolve));
    },
    open() {
      isOpen = true;
      for (const { pass } of held.splice(0)) pass();
    },
  };
}
