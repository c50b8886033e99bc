import { Presets, SingleBar } from "cli-progress";
import type { Clock } from "#lib/clock";
import { durationText } from "#lib/duration";
import { SECOND_MS } from "#lib/units";
import { countText } from "#server/cli/words";

/** Interval between two lines of progress when there is no terminal to draw a bar on. */
const LINE_INTERVAL_MS = 5_000;
const PERCENT = 100;

/** Where the command prints. */
export interface Terminal {
  line(text: string): void;
  /** The stream to draw a bar on; null to print lines instead. */
  readonly bar: NodeJS.WritableStream | null;
  /** Called with all progress: the step, its completed share (0 to 1), and the rows so far. */
  onProgress?(title: string, share: number, rows: number): void;
}

/** The terminal of a command: a bar where standard output is one, lines elsewhere. */
export const terminalOf = (line: Terminal["line"]): Terminal => ({ line, bar: process.stdout.isTTY ? process.stdout : null });

/** Progress of one step. */
export interface Progress {
  /** @param done completed amount, in the unit of the total @param rows rows so far */
  update(done: number, rows: number): void;
  stop(): void;
}

/** Rows a second since `startMs`. */
export function perSecond(rows: number, ms: number): string {
  return countText((rows * 1000) / Math.max(ms, 1));
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
  const payload = (done: number, rows: number) => ({
    rows: countText(rows),
    ...figures(done, total, rows, clock.now() - startMs),
  });
  bar.start(total, 0, payload(0, 0));
  return { update: (done, rows) => bar.update(Math.min(done, total), payload(done, rows)), stop: () => bar.stop() };
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
      terminal.line(`  ${title}: ${percent}, ${countText(rows)} rows, ${rate}, ${left} left`);
    },
    stop: () => undefined,
  };
}

/** Shows a bar with rows/s and time left on a terminal, or prints lines elsewhere. Stop it before printing anything else. */
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
