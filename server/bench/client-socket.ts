import { randomBytes } from "node:crypto";
import net from "node:net";

/**
 * A client of the fan-out bench on a bare socket. It looks at the heads of frames, so that the clients of a server that sends
 * several hundred thousand messages a second have less to do than the server.
 */

/** Kinds of frames (RFC 6455, 5.2). */
const [TEXT, CLOSE, PING, PONG] = [1, 8, 9, 10];
const [LENGTH_16, LENGTH_64] = [126, 127];
const SMALL_MAX_BYTES = 125;
const MESSAGE_MAX_BYTES = 65_535;
const READ_BYTES = 65_536;
const OPEN_MAX_MS = 30_000;
const EXCERPT_CHARACTERS = 600;
const NOTHING = Buffer.alloc(0);

/** All sockets of the process read into it, one after the other. */
const buffer = Buffer.allocUnsafe(READ_BYTES);

/** Gets a frame: its payload is in `bytes` from `from` to `to`, until this returns. */
type TakeFrame = (opcode: number, bytes: Buffer, from: number, to: number) => void;

/** Makes the function that takes what a server sends, and finds the frames in it. */
function createFrames(take: TakeFrame): (chunk: Buffer) => void {
  let rest = NOTHING;
  return (chunk) => {
    const bytes = rest.length === 0 ? chunk : Buffer.concat([rest, chunk]);
    let at = 0;
    while (bytes.length - at >= 2) {
      let from = at + 2;
      let length = bytes[at + 1] ?? 0;
      if (length === LENGTH_16) {
        if (bytes.length < at + 4) break;
        from = at + 4;
        length = bytes.readUInt16BE(at + 2);
      } else if (length === LENGTH_64) {
        if (bytes.length < at + 10) break;
        from = at + 10;
        length = Number(bytes.readBigUInt64BE(at + 2));
      }
      if (from + length > bytes.length) break;
      take((bytes[at] ?? 0) & 0x0f, bytes, from, from + length);
      at = from + length;
    }
    rest = at === bytes.length ? NOTHING : Buffer.from(bytes.subarray(at));
  };
}

/** A frame of a client, masked with zeros, which do not change the payload. @throws Error for a message that is too long */
function frameOf(opcode: number, payload: Buffer): Buffer {
  const { length } = payload;
  if (length > MESSAGE_MAX_BYTES) throw new Error(`a message of ${length} bytes`);
  const head = length <= SMALL_MAX_BYTES ? [0x80 | length] : [0x80 | LENGTH_16, length >> 8, length & 0xff];
  return Buffer.concat([Buffer.from([0x80 | opcode, ...head, 0, 0, 0, 0]), payload]);
}

/** How an opening client answers a message: with a text, that it is open, that it was refused, or not at all. */
export type Reaction = { readonly say: string } | "open" | "refused" | undefined;

interface ClientOptions {
  readonly url: URL;
  readonly headers: Readonly<Record<string, string>>;
  /** The first message of the client, if it has the first word. */
  readonly hello: string | undefined;
  react(text: string): Reaction;
  /** Gets the messages of the open client; they are read until this returns. Returns what to answer. */
  take(bytes: Buffer, from: number, to: number): string | undefined;
  /** Called when the server closes it, or it breaks. */
  lost(): void;
}

/** Closes a client. */
export type CloseClient = () => void;

/** Opens a client; resolves when it has what it asked for. @throws Error when it is refused, or not open in time */
export function openClient({ url, headers, hello, react, take, lost }: ClientOptions): Promise<CloseClient> {
  const { hostname, port, host, pathname, search } = url;
  return new Promise((resolve, reject) => {
    let state: "opening" | "open" | "closed" = "opening";
    let head = "";
    let read = readHead;
    const readFrames = createFrames(onFrame);
    const callback = (count: number) => {
      read(buffer.subarray(0, count));
      return true;
    };
    const socket = net.connect({ host: hostname, port: Number(port), noDelay: true, onread: { buffer, callback } });
    const timer = setTimeout(() => end("did not open in time"), OPEN_MAX_MS);
    socket.on("error", (error) => end(error.message));
    socket.on("close", () => end("was closed"));
    const lines = Object.entries({
      host,
      connection: "upgrade",
      upgrade: "websocket",
      "sec-websocket-version": "13",
      "sec-websocket-key": randomBytes(16).toString("base64"),
      ...headers,
    }).map(([name, value]) => `${name}: ${value}\r\n`);
    socket.write(`GET ${pathname}${search} HTTP/1.1\r\n${lines.join("")}\r\n`);

    const say = (text: string) => socket.write(frameOf(TEXT, Buffer.from(text)));

    function end(why: string): void {
      const before = state;
      state = "closed";
      clearTimeout(timer);
      socket.destroy();
      if (before === "open") lost();
      else if (before === "opening") reject(new Error(`a socket ${why}`));
    }

    function readHead(chunk: Buffer): void {
      head += chunk.toString("latin1");
      const endAt = head.indexOf("\r\n\r\n");
      if (endAt === -1) return;
      if (!head.startsWith("HTTP/1.1 101")) {
        end(`was refused: ${head.slice(0, EXCERPT_CHARACTERS)}`);
        return;
      }
      read = readFrames;
      if (hello !== undefined) say(hello);
      readFrames(Buffer.from(head.slice(endAt + 4), "latin1"));
    }

    function open(text: string): void {
      const reaction = react(text);
      if (reaction === "refused") end(`was refused: ${text.slice(0, EXCERPT_CHARACTERS)}`);
      else if (reaction === "open") {
        clearTimeout(timer);
        state = "open";
        resolve(() => {
          state = "closed";
          socket.destroy();
        });
      } else if (reaction !== undefined) say(reaction.say);
    }

    function onFrame(opcode: number, bytes: Buffer, from: number, to: number): void {
      if (opcode === TEXT && state === "opening") open(bytes.toString("utf8", from, to));
      else if (opcode === TEXT) {
        const answer = take(bytes, from, to);
        if (answer !== undefined) say(answer);
      } else if (opcode === PING) socket.write(frameOf(PONG, Buffer.from(bytes.subarray(from, to))));
      else if (opcode === CLOSE) end(`was closed with ${to - from < 2 ? "no code" : bytes.readUInt16BE(from)}`);
    }
  });
}
