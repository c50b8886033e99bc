import { Presets, SingleBar } from "cli-progress";
import type { Clock } from "#lib/clock";
import { durationText } from "#lib/duration";
import { SECOND_MS } from "#lib/units";

/** Between two lines of progress where there is no terminal to draw a bar in. */
const LINE_INTERVAL_MS = 5_000;
const PERCENT = 100;

/** Where the command speaks to. */
export interface Terminal {
  line(text: string): void;
  /** The stream a bar is drawn on; null where lines are printed instead. */
  readonly bar: NodeJS.WritableStream | null;
  /** Told of all progress: what is done, the part of it that is done (0 to 1), rows so far. */
  onProgress?(title: string, share: number, rows: number): void;
}

/** How far one piece of work is. */
export interface Progress {
  /** @param done of the total, in its own unit @param rows so far */
  update(done: number, rows: number): void;
  stop(): void;
}

const count = (value: number) => Math.round(value).toLocaleString("en-US");

/** Rows a second since `startMs`. */
export function perSecond(rows: number, ms: number): string {
  return count((rows * 1000) / Math.max(ms, 1));
}

const shareOf = (done: number, total: number) => (total > 0 ? Math.min(1, done / total) : 1);

function figures(done: number, total: number, rows: number, elapsedMs: number): { percent: string; rate: string; left: string } {
  const share = shareOf(done, total);
  const left = share > 0 ? durationText(Math.ceil((elapsedMs / share - elapsedMs) / SECOND_MS) * SECOND_MS) : "?";
  return { percent: `${Math.floor(share * PERCENT)}%`, rate: `${perSecond(rows, elapsedMs)} rows/s`, left };
}

function drawn(stream: NodeJS.WritableStream, title: string, total: number, clock: Clock): Progress {
  const startMs = clock.now();
  const bar = new SingleBar(
    {
      stream,
      format: `${title} {bar} {percentage}% · {rows} rows · {rate} · {left} left`,
      clearOnComplete: true,
      hideCursor: true,
      fps: 8,
    },
    Presets.shades_classic,
  );
  const payload = (done: number, rows: number) => ({ rows: count(rows), ...figures(done, total, rows, clock.now() - startMs) });
  bar.start(total, 0, payload(0, 0));
  return {
    update: (done, rows) => bar.update(Math.min(done, total), payload(done, rows)),
    stop: () => bar.stop(),
  };
}

function printed(terminal: Terminal, title: string, total: number, clock: Clock): Progress {
  const startMs = clock.now();
  let lastMs = startMs;
  return {
    update(done, rows) {
      const nowMs = clock.now();
      if (nowMs - lastMs < LINE_INTERVAL_MS) return;
      lastMs = nowMs;
      const { percent, rate, left } = figures(done, total, rows, nowMs - startMs);
      terminal.line(`  ${title}: ${percent}, ${count(rows)} rows, ${rate}, ${left} left`);
    },
    stop: () => undefined,
  };
}

/** A bar with rows/s and time left on a terminal, now and then a line elsewhere. Stop it before printing anything else. */
export function startProgress(terminal: Terminal, title: string, total: number, clock: Clock): Progress {
  const shown = terminal.bar === null ? printed(terminal, title, total, clock) : drawn(terminal.bar, `  ${title}`, total, clock);
  return {
    update(done, rows) {
      shown.update(done, rows);
      terminal.onProgress?.(title, shareOf(done, total), rows);
    },
    stop: shown.stop,
  };
}
