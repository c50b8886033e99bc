import type { Socket } from "node:net";
import type { Outgoing } from "#server/hub/outgoing";

/** Final fragment, text or binary (RFC 6455, 5.2). */
const TEXT_FRAME = 0x81;
const BINARY_FRAME = 0x82;
const LENGTH_16 = 126;
const LENGTH_64 = 127;

/** Longest piece that is made in reused memory, and the size of that memory. */
const SPACE_BYTES = 8_192;

function headBytesOf({ bytes }: Outgoing): number {
  if (bytes < LENGTH_16) return 2;
  return bytes < 65_536 ? 4 : 10;
}

/** Length of the frame of a message. */
function frameBytesOf(message: Outgoing): number {
  return headBytesOf(message) + message.bytes;
}

/** Writes a message as one unmasked WebSocket frame (RFC 6455, 5.2). */
function writeFrame(message: Outgoing, target: Buffer, at: number): void {
  const { payload, bytes } = message;
  const headBytes = headBytesOf(message);
  target[at] = typeof payload === "string" ? TEXT_FRAME : BINARY_FRAME;
  if (headBytes === 2) target[at + 1] = bytes;
  else if (headBytes === 4) {
    target[at + 1] = LENGTH_16;
    target.writeUInt16BE(bytes, at + 2);
  } else {
    target[at + 1] = LENGTH_64;
    target.writeBigUInt64BE(BigInt(bytes), at + 2);
  }
  if (typeof payload === "string") target.write(payload, at + headBytes);
  else target.set(payload, at + headBytes);
}

/** The frame of a message, made once. */
export function frameOf(message: Outgoing): Buffer {
  if (message.frame === undefined) {
    message.frame = Buffer.allocUnsafe(frameBytesOf(message));
    writeFrame(message, message.frame, 0);
  }
  return message.frame;
}

/** True for what many connections get, so that its frame is made once. Most other messages go to one connection. */
function isRecord({ event }: Outgoing): boolean {
  return event !== undefined;
}

/**
 * Joins the frames of messages into one piece that a socket takes in one write. Connections that follow the same things get the
 * same messages one after the other: their piece is made once. Most pieces are made in the same memory, because nearly every
 * socket takes one at once: new memory for each would stay until the next garbage collection, 2 KB a connection.
 */
export class FrameJoiner {
  #space = Buffer.allocUnsafeSlow(SPACE_BYTES);
  #messages: readonly Outgoing[] = [];
  #joined: Buffer = Buffer.alloc(0);

  /** Writes messages to a socket in one piece. */
  send(messages: readonly Outgoing[], socket: Pick<Socket, "write" | "writableLength">): void {
    const piece = this.join(messages);
    const isReused = piece.buffer === this.#space.buffer;
    // A socket that is behind keeps a copy: many short pieces would each hold the whole memory.
    const isBehind = socket.writableLength > 0;
    socket.write(isReused && isBehind ? Buffer.from(piece) : piece);
    // The socket still sends from this memory.
    if (isReused && !isBehind && socket.writableLength > 0) this.#space = Buffer.allocUnsafeSlow(SPACE_BYTES);
  }

  /** Joins messages. The piece is valid until the next call. */
  join(messages: readonly Outgoing[]): Buffer {
    const [first] = messages;
    if (messages.length === 1 && first !== undefined && isRecord(first)) return frameOf(first);
    if (!this.#isLast(messages)) this.#make(messages);
    return this.#joined;
  }

  #isLast(messages: readonly Outgoing[]): boolean {
    const last = this.#messages;
    if (messages.length !== last.length) return false;
    for (let index = 0; index < messages.length; index += 1) if (messages[index] !== last[index]) return false;
    return true;
  }

  #make(messages: readonly Outgoing[]): void {
    let bytes = 0;
    for (const message of messages) bytes += frameBytesOf(message);
    const target = bytes <= SPACE_BYTES ? this.#space.subarray(0, bytes) : Buffer.allocUnsafe(bytes);
    let at = 0;
    for (const message of messages) {
      if (isRecord(message)) target.set(frameOf(message), at);
      else writeFrame(message, target, at);
      at += frameBytesOf(message);
    }
    this.#messages = messages;
    this.#joined = target;
  }
}
