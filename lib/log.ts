import pino from "pino";
import { sumRepeats } from "./log-repeats";
import { printableJson } from "./printable";

export type Logger = pino.Logger;

/** Paths that could contain a key are removed before a line is written. */
const SECRETS = ["*.authorization", "headers.authorization", "authorization", "key", "*.key", "password", "*.password"];

/** JSON lines on standard output, repeated ones summed; `level` as in pino ("silent" for none). */
export function createLog(level: string): Logger {
  return pino({
    level,
    base: { service: "spotwire" },
    timestamp: pino.stdTimeFunctions.isoTime,
    redact: { paths: SECRETS, censor: "[redacted]" },
    formatters: { level: (label) => ({ level: label }) },
    hooks: { streamWrite: printableJson, logMethod: sumRepeats() },
  });
}
