import { readFileSync } from "node:fs";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import Fastify from "fastify";

/**
 * An anchor of the REST benches: it sends one answer, made before, to every request, and checks nothing. Argument 1 says how:
 * `fastify` is bare Fastify without its log; `http` is node:http with the headers as one list. Argument 2 is a file with the answer.
 */

/** The answer of an anchor: the body's bytes in Base64, and the headers it needs. */
export interface FixedAnswer {
  readonly path: string;
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

const [kind, file = ""] = process.argv.slice(2);
const { path, status, headers, body }: FixedAnswer = JSON.parse(readFileSync(file, "utf8"));
const bytes = Buffer.from(body, "base64");

async function bareFastify(): Promise<string> {
  const app = Fastify({ logger: false });
  app.get(path, (_request, reply) => {
    reply.code(status).headers(headers);
    return status === 304 ? reply.send() : reply.send(bytes);
  });
  return app.listen({ port: 0, host: "127.0.0.1" });
}

function prebuiltBytes(): Promise<string> {
  const lines = Object.entries({ ...headers, "content-length": String(bytes.byteLength) }).flat();
  const server: Server = createServer((_request, response) => {
    response.writeHead(status, lines);
    response.end(bytes);
  });
  return new Promise((resolve) => {
    server.listen(0, "127.0.0.1", () => resolve(`http://127.0.0.1:${(server.address() as AddressInfo).port}`));
  });
}

const address = await (kind === "fastify" ? bareFastify() : prebuiltBytes());
process.stdout.write(`listening on ${address}\n`);
process.on("SIGTERM", () => process.exit(0));
