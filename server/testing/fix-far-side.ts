import type { AddressInfo } from "node:net";
import { createServer, type Socket } from "node:net";
import { createSplitter, encode, type Field, type FixMessage, fieldOf } from "#server/feed/upstream/fix/codec";
import type { FarSide, Peer } from "./far-side";

const SOH = "\u0001";

/** A FIX message as a test writes it: `35=W|55=EUR/USD`. */
export const fixFields = (text: string): Field[] =>
  text
    .split("|")
    .filter(Boolean)
    .map((field) => {
      const at = field.indexOf("=");
      return [Number(field.slice(0, at)), field.slice(at + 1)];
    });

/** What a far side of FIX answers beyond its session; `say` sends a message. */
type FixAnswer = (message: FixMessage, say: (text: string) => void) => void;

/**
 * A venue that speaks FIX 4.4. Messages of a test are fields (`35=W|…`), which get a header, a number and a checksum; other texts
 * are sent as they are. A refusal is a logout.
 */
export async function fixFarSide(answer: FixAnswer = () => undefined): Promise<FarSide & { readonly port: number }> {
  let connections = 0;
  let onPeer: (peer: Peer) => void = () => undefined;
  let refusal: Parameters<FarSide["refuse"]>[0] = null;
  let silent = false;
  const open = new Set<Socket>();

  function talk(socket: Socket): void {
    let seq = 1;
    const splitter = createSplitter();

    function bytesOf(text: string): Buffer {
      if (!text.startsWith("35=")) return Buffer.from(text);
      const [type, ...fields] = fixFields(text);
      const usual = fixFields(`34=${seq}|49=VENUE|56=SPOTWIRE|52=20260107-11:59:58.500`);
      const header = usual.filter(([tag]) => !fields.some(([own]) => own === tag));
      seq += 1;
      return encode([...(type === undefined ? [] : [type]), ...header, ...fields]);
    }

    const say = (text: string) => socket.writable && socket.write(bytesOf(text));
    const peer: Peer = {
      send: say,
      sendSplit: (text) => {
        for (const byte of bytesOf(text)) socket.write(Buffer.from([byte]));
      },
      sendTogether: (texts) => socket.write(Buffer.concat(texts.map(bytesOf))),
      cutWithin: (text) => {
        const bytes = bytesOf(text);
        socket.write(bytes.subarray(0, bytes.length / 2), () => socket.destroy());
      },
      end: () => socket.end(),
      unread: () => socket.writableLength,
    };

    function take(message: FixMessage): void {
      if (message.type === "A") {
        connections += 1;
        if (refusal !== null) say(`35=5|58=Invalid credentials: ${refusal.body ?? ""}`);
        else say("35=A|98=0|108=30|141=Y");
      } else if (message.type === "V" && fieldOf(message, 262) === "prices-0") onPeer(peer);
      else if (silent) return;
      else if (message.type === "1") say(`35=0|112=${fieldOf(message, 112)}`);
      else if (message.type === "5") {
        say("35=5");
        socket.end();
      }
      answer(message, say);
    }

    socket.setNoDelay(true);
    socket.on("data", (chunk) => {
      for (const piece of splitter.push(chunk)) if (piece !== "garbled") take(piece.message);
    });
  }

  const server = createServer((socket) => {
    open.add(socket);
    socket.on("close", () => open.delete(socket));
    // The client may leave at any time.
    socket.on("error", () => undefined);
    talk(socket);
  });
  const port = await new Promise<number>((resolve) =>
    server.listen(0, "127.0.0.1", () => resolve((server.address() as AddressInfo).port)),
  );
  return {
    port,
    url: `tcp://127.0.0.1:${port}`,
    connections: () => connections,
    open: () => open.size,
    script: (next) => {
      onPeer = next;
    },
    refuse: (next) => {
      refusal = next;
    },
    silence: (next) => {
      silent = next;
    },
    async close() {
      for (const socket of open) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** Bytes of a FIX message that a test writes with `|` for SOH, its length and checksum as they stand. */
export const rawFix = (text: string): Buffer => Buffer.from(text.replaceAll("|", SOH));
