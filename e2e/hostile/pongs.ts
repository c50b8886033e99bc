import { readFile } from "node:fs/promises";
import { connect } from "node:net";
import { STREAM_PATH } from "#lib/contract/stream";

/** The kernel counts processor time in hundredths of a second. */
const TICKS_PER_SECOND = 100;
const CLOSE_FRAME = 0x88;
/** More than the buffers on the way hold: a service that takes so much on one connection reads it. */
const GIVE_UP_BYTES = 67_108_864;
/** Pongs with a mask of zeros and two bytes, as many as one write has. */
const PONGS = Buffer.concat(Array.from({ length: 8_192 }, () => Buffer.from([0x8a, 0x82, 0, 0, 0, 0, 1, 2])));

/** Processor time of a process so far, seconds: its threads, not its children. */
export async function processorSecondsOf(pid: number): Promise<number> {
  const stat = await readFile(`/proc/${pid}/stat`, "utf8");
  const [user, system] = stat
    .slice(stat.lastIndexOf(")") + 2)
    .split(" ")
    .slice(11, 13);
  return (Number(user) + Number(system)) / TICKS_PER_SECOND;
}

/**
 * Opens a stream and sends pongs until the service ends the connection, whatever it says before. Resolves with the status of the
 * handshake, or the code of the close frame.
 */
function sendPongs(baseUrl: string, key: string, onSent: (bytes: number) => void): Promise<number> {
  const { hostname, port } = new URL(baseUrl);
  const head = [
    `GET ${STREAM_PATH} HTTP/1.1`,
    `Host: ${hostname}:${port}`,
    "Connection: Upgrade",
    "Upgrade: websocket",
    "Sec-WebSocket-Version: 13",
    "Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==",
    `Authorization: Bearer ${key}`,
  ];
  return new Promise((resolve) => {
    const socket = connect(Number(port), hostname, () => socket.write(`${head.join("\r\n")}\r\n\r\n`));
    let [end, sent] = [0, 0];
    const flood = () => {
      while (!socket.destroyed) {
        onSent(PONGS.length);
        sent += PONGS.length;
        if (sent >= GIVE_UP_BYTES) socket.destroy();
        else if (!socket.write(PONGS)) return;
      }
    };
    socket
      .on("error", () => undefined)
      .on("drain", flood)
      .on("data", (chunk) => {
        const status = Number(/^HTTP\/1\.1 (\d+)/.exec(chunk.toString("latin1"))?.[1]);
        if (status === 101) return flood();
        // A close frame has its code after two bytes.
        const at = chunk.lastIndexOf(CLOSE_FRAME);
        end = Number.isNaN(status) ? (at === -1 ? end : chunk.readUInt16BE(at + 2)) : status;
        if (!Number.isNaN(status)) socket.destroy();
      })
      .once("close", () => resolve(end));
  });
}

/** What a flood of pongs came to. */
interface Flood {
  /** Close codes of its streams; the status of a handshake that was refused. */
  readonly closes: readonly number[];
  /** What went into the buffers of connections; the service need not have read it. */
  readonly bytes: number;
}

interface Rounds {
  readonly streams: number;
  readonly times: number;
}

/** Sends pongs over so many streams at a time, each opened again so many times when it ends. */
export async function floodPongs(baseUrl: string, key: string, { streams, times }: Rounds): Promise<Flood> {
  const closes: number[] = [];
  let bytes = 0;
  const loop = async () => {
    for (let time = 0; time < times; time += 1)
      closes.push(
        await sendPongs(baseUrl, key, (more) => {
          bytes += more;
        }),
      );
  };
  await Promise.all(Array.from({ length: streams }, loop));
  return { closes, bytes };
}
