import type pino from "pino";
import { SECOND_MS } from "./units";

/** Lines with the same text that are written in one window; what they say beside it may differ. Further ones are summed. */
const WRITTEN_MAX_COUNT = 10;
const WINDOW_MS = 10 * SECOND_MS;
/** Texts that are counted at the same time. Past it, lines are written as they come. */
const TEXTS_MAX_COUNT = 200;

interface Repeated {
  written: number;
  left: number;
}

type LogMethod = NonNullable<NonNullable<pino.LoggerOptions["hooks"]>["logMethod"]>;

/**
 * Makes the hook that sums repeated lines: of one level and text ten are written in ten seconds, and at their end one more says
 * how many were left out, so that no client and no fault fills a disk. A fatal line is always written.
 */
export function sumRepeats(): LogMethod {
  const texts = new Map<string, Repeated>();
  return function sum(this: pino.Logger, args, method, level) {
    const text = args.find((one): one is string => typeof one === "string");
    const fatal = this.levels.labels[level] === "fatal";
    if (text === undefined || fatal) return method.apply(this, args);
    const name = `${level} ${text}`;
    const repeated = texts.get(name);
    if (repeated === undefined) {
      if (texts.size < TEXTS_MAX_COUNT) {
        const first = { written: 1, left: 0 };
        texts.set(name, first);
        setTimeout(() => {
          texts.delete(name);
          if (first.left > 0) method.call(this, { repeated: first.left }, `${text} (repeated ${first.left} times)`);
        }, WINDOW_MS).unref();
      }
      return method.apply(this, args);
    }
    if (repeated.written < WRITTEN_MAX_COUNT) {
      repeated.written += 1;
      return method.apply(this, args);
    }
    repeated.left += 1;
  };
}
