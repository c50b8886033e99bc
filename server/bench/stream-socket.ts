import { randomBytes } from "node:crypto";
import net from "node:net";
import type { Dialect } from "./stream-dialect";
import { BINARY, CLOSE, clientFrame, FrameReader, PING, PONG, type TakeFrame, TEXT } from "./stream-frames";

const OPEN_MAX_MS = 30_000;
const HEAD_MAX_BYTES = 16_384;
/** Longest excerpt of a rejection. */
const EXCERPT_MAX_BYTES = 600;

/** Receives each message of an open socket from the frame reader. */
type TakeMessage = (bytes: number, buffer: Buffer | undefined, at: number) => void;

/** A subscribed client on a bare TCP socket. */
export interface StreamSocket {
  close(): void;
}

interface SocketOptions {
  readonly url: string;
  readonly dialect: Dialect;
  /** Number of acks after which it counts as open. */
  readonly acks: number;
  /** Read buffer, shared by all sockets. */
  readonly buffer: Buffer;
  readonly take: TakeMessage;
  /** Called when the server closes it, or it breaks. */
  readonly onLost: () => void;
}

/** Opens a socket; resolves when all subscriptions are acknowledged, rejects on a rejection or timeout. */
export function openSocket({ url, dialect, acks, buffer, take, onLost }: SocketOptions): Promise<StreamSocket> {
  const { hostname, port, host } = new URL(url);
  let state: "opening" | "open" | "closed" = "opening";
  return new Promise((resolve, reject) => {
    let head: Buffer | undefined = Buffer.alloc(0);
    let awaited = acks;
    const reader = new FrameReader(onFrame);
    const socket = net.connect({ host: hostname, port: Number(port), onread: { buffer, callback: onRead } });
    const timer = setTimeout(() => end("did not open in time"), OPEN_MAX_MS);
    socket.setNoDelay(true);
    socket.on("connect", () => socket.write(requestOf(host, dialect)));
    socket.on("error", (error) => end(error.message));
    socket.on("close", () => end("was closed"));

    function end(why: string): void {
      clearTimeout(timer);
      socket.destroy();
      if (state === "open") onLost();
      else if (state === "opening") reject(new Error(`a socket ${why}`));
      state = "closed";
    }

    function say(message: string | Uint8Array): void {
      socket.write(clientFrame(typeof message === "string" ? TEXT : BINARY, message));
    }

    function onRead(count: number): boolean {
      const chunk = buffer.subarray(0, count);
      if (head === undefined) reader.read(chunk);
      else readHead(chunk, head);
      return true;
    }

    function readHead(chunk: Buffer, before: Buffer): void {
      const all = Buffer.concat([before, chunk]);
      const endAt = all.indexOf("\r\n\r\n");
      head = all;
      if (endAt === -1 && all.length < HEAD_MAX_BYTES) return;
      head = undefined;
      if (!all.toString("latin1", 0, 12).startsWith("HTTP/1.1 101")) {
        end(`was rejected: ${all.toString("utf8", 0, EXCERPT_MAX_BYTES)}`);
        return;
      }
      for (const message of dialect.hello) say(message);
      if (awaited === 0) opened();
      reader.read(all.subarray(endAt + 4));
    }

    function opened(): void {
      clearTimeout(timer);
      state = "open";
      reader.whole = false;
      resolve({
        close() {
          state = "closed";
          socket.destroy();
        },
      });
    }

    function onOpening(text: string): void {
      const reaction = dialect.react(text);
      if (reaction === "refused") end(`was rejected: ${text.slice(0, EXCERPT_MAX_BYTES)}`);
      else if (reaction === "acked") awaited -= 1;
      if (awaited === 0 && state === "opening") opened();
    }

    function onFrame(...[opcode, bytes, from, at]: Parameters<TakeFrame>): void {
      if (opcode === TEXT || opcode === BINARY) {
        if (state === "opening") onOpening((from && dialect.textOf(from.subarray(at, at + bytes))) ?? "");
        else take(bytes, from, at);
      } else if (opcode === PING && from !== undefined)
        socket.write(clientFrame(PONG, Buffer.from(from.subarray(at, at + bytes))));
      else if (opcode === CLOSE) end(`was closed with ${from?.readUInt16BE(at)}`);
    }
  });
}

function requestOf(host: string, { path, headers }: Dialect): string {
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}`);
  const key = `sec-websocket-key: ${randomBytes(16).toString("base64")}`;
  const upgrade = ["connection: upgrade", "upgrade: websocket", "sec-websocket-version: 13", key];
  return `${[`GET ${path} HTTP/1.1`, `host: ${host}`, ...upgrade, ...lines].join("\r\n")}\r\n\r\n`;
}
