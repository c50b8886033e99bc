import type { Outgoing } from "#server/hub/outgoing";

/** Final fragment, text or binary (RFC 6455, 5.2). */
const TEXT_FRAME = 0x81;
const BINARY_FRAME = 0x82;
const LENGTH_16 = 126;
const LENGTH_64 = 127;

/** A message as one unmasked WebSocket frame (RFC 6455, 5.2). */
function newFrame({ payload, bytes }: Outgoing): Buffer {
  const headBytes = bytes < LENGTH_16 ? 2 : bytes < 65_536 ? 4 : 10;
  const frame = Buffer.allocUnsafe(headBytes + bytes);
  frame[0] = typeof payload === "string" ? TEXT_FRAME : BINARY_FRAME;
  if (headBytes === 2) frame[1] = bytes;
  else if (headBytes === 4) {
    frame[1] = LENGTH_16;
    frame.writeUInt16BE(bytes, 2);
  } else {
    frame[1] = LENGTH_64;
    frame.writeBigUInt64BE(BigInt(bytes), 2);
  }
  if (typeof payload === "string") frame.write(payload, headBytes);
  else frame.set(payload, headBytes);
  return frame;
}

/** The frame of a message, made once. */
export function frameOf(message: Outgoing): Buffer {
  message.frame ??= newFrame(message);
  return message.frame;
}

/** Joins the frames of messages into one piece that a socket takes in one write. */
export type JoinFrames = (messages: readonly Outgoing[]) => Buffer;

/** Connections that follow the same things get the same messages one after the other: their piece is made once. */
export function createJoinFrames(): JoinFrames {
  let last: readonly Outgoing[] = [];
  let joined: Buffer = Buffer.alloc(0);

  function isLast(messages: readonly Outgoing[]): boolean {
    if (messages.length !== last.length) return false;
    for (let index = 0; index < messages.length; index += 1) if (messages[index] !== last[index]) return false;
    return true;
  }

  return (messages) => {
    const [first] = messages;
    if (messages.length === 1 && first !== undefined) return frameOf(first);
    if (isLast(messages)) return joined;
    last = messages;
    joined = Buffer.concat(messages.map(frameOf));
    return joined;
  };
}
