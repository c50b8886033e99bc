import type { Readable } from "node:stream";
import { format, stripVTControlCharacters } from "node:util";
import type { Logger } from "#lib/log";

/** Where each method of the console writes. */
const CONSOLE_LEVELS = { error: "error", warn: "warn", log: "info", info: "info", debug: "debug", trace: "debug" } as const;
type Level = (typeof CONSOLE_LEVELS)[keyof typeof CONSOLE_LEVELS];

/** A text of somebody else as the message of a line: without colours, and without the space around it. */
const messageOf = (text: string) => stripVTControlCharacters(text).trim();

/**
 * Makes a line of the log of everything that code in this process prints, however many lines it has: what Next and other packages
 * print on the console, Node's warnings, and an error that nobody caught, after which the process ends with code 1 as before. What
 * Node prints while it dies, as when memory is exhausted, a process cannot change itself: its parent does with `logStderr`.
 */
export function keepJsonOutput(log: Logger): void {
  const say = (level: Level, text: string) => {
    const message = messageOf(text);
    if (message !== "") log[level](message);
  };
  const methods = Object.entries(CONSOLE_LEVELS).map(([name, level]) => [
    name,
    (...words: unknown[]) => say(level, format(...words)),
  ]);
  Object.assign(console, Object.fromEntries(methods));
  for (const [stream, level] of [
    [process.stdout, "info"],
    [process.stderr, "error"],
  ] as const) {
    stream.write = (chunk: string | Uint8Array, encodingOrDone?: unknown, done?: unknown) => {
      say(level, typeof chunk === "string" ? chunk : Buffer.from(chunk).toString());
      const callback = typeof encodingOrDone === "function" ? encodingOrDone : done;
      if (typeof callback === "function") process.nextTick(callback);
      return true;
    };
  }
  // Node's own listener prints them.
  process.removeAllListeners("warning");
  process.on("warning", (warning) => log.warn({ warning: warning.name }, warning.message));
  process.on("uncaughtException", (error) => {
    log.fatal({ err: error }, "an error that nobody caught; the process ends");
    process.exit(1);
  });
}

/** Makes lines of the log of what a child process writes to its standard error, piece by piece as it arrives. */
export function logStderr(stderr: Readable | null, log: Logger): void {
  stderr?.on("data", (chunk: Buffer) => {
    const message = messageOf(chunk.toString());
    if (message !== "") log.error(message);
  });
}
