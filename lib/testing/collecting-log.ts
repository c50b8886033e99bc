import { Writable } from "node:stream";
import pino from "pino";

/** A log that appends its lines, from this level on, to a list as objects. */
export function collectingLog(lines: Record<string, unknown>[], level: "info" | "warn"): pino.Logger {
  const sink = new Writable({
    write(chunk: Buffer, _encoding, done) {
      for (const line of chunk.toString().split("\n").filter(Boolean)) lines.push(JSON.parse(line));
      done();
    },
  });
  return pino({ level, serializers: pino.stdSerializers }, sink);
}
