import { connect, type Socket } from "node:net";
import { STREAM_PATH } from "#lib/contract/stream";

/** The answer on a connection whose bytes the test writes. */
interface WireAnswer {
  readonly status: number;
  /** By lower-case name. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** A TCP connection without any protocol. */
interface Wire {
  readonly socket: Socket;
  write(text: string | Buffer): void;
  /** The HTTP answer, once its body is complete or there can be none. */
  answer(): Promise<WireAnswer>;
  /** Resolves when the server has closed its side, or cut the connection. */
  readonly ended: Promise<void>;
}

/** The answer at the beginning of a text; undefined while it is incomplete. */
function parse(text: string): WireAnswer | undefined {
  const end = text.indexOf("\r\n\r\n");
  if (end === -1) return undefined;
  const [first = "", ...lines] = text.slice(0, end).split("\r\n");
  const headers: Record<string, string> = {};
  for (const line of lines) headers[line.slice(0, line.indexOf(":")).toLowerCase()] = line.slice(line.indexOf(":") + 1).trim();
  const body = text.slice(end + 4);
  if (body.length < Number(headers["content-length"] ?? 0)) return undefined;
  return { status: Number(first.split(" ")[1]), headers, body };
}

/** Connects to the service; the client's side stays open until the test closes it. */
export async function openWire(url: string): Promise<Wire> {
  const { hostname, port } = new URL(url);
  const socket = connect({ host: hostname, port: Number(port), allowHalfOpen: true });
  await new Promise((resolve, reject) => socket.once("connect", resolve).once("error", reject));
  let text = "";
  let tell = (): void => undefined;
  socket.on("data", (chunk: Buffer) => {
    text += chunk.toString("latin1");
    tell();
  });
  const ended = new Promise<void>((resolve) => {
    socket.once("end", resolve).once("close", () => resolve());
    socket.once("error", () => resolve());
  });
  return {
    socket,
    write: (data) => void socket.write(data),
    answer: () =>
      new Promise((resolve, reject) => {
        tell = () => {
          const answer = parse(text);
          if (answer !== undefined) resolve(answer);
        };
        void ended.then(() => reject(new Error(`no complete answer came: ${JSON.stringify(text)}`)));
        tell();
      }),
    ended,
  };
}

/** The text of a raw WebSocket handshake; headers that are undefined are omitted. */
export function handshakeText(
  headers: Readonly<Record<string, string | undefined>> = {},
  path = STREAM_PATH,
  method = "GET",
): string {
  const all = {
    Host: "127.0.0.1",
    Connection: "Upgrade",
    Upgrade: "websocket",
    "Sec-WebSocket-Version": "13",
    "Sec-WebSocket-Key": "dGhlIHNhbXBsZSBub25jZQ==",
    ...headers,
  };
  const lines = Object.entries(all).flatMap(([name, value]) => (value === undefined ? [] : [`${name}: ${value}`]));
  return [`${method} ${path} HTTP/1.1`, ...lines, "", ""].join("\r\n");
}
