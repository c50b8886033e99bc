import type { Clock } from "#lib/clock";
import type { Output } from "./run-command";

/** Shortest interval between two drawings; the eye cannot follow faster updates. */
const REDRAW_MIN_MS = 100;
/** Interval that updates the ages when no records arrive. */
const REDRAW_MAX_MS = 1_000;
const SIZE_DEFAULT = { columns: 80, rows: 24 } as const;

const ESCAPE = "\u001b[";
const HIDE_CURSOR = `${ESCAPE}?25l`;
const SHOW_CURSOR = `${ESCAPE}?25h`;
const CLEAR_BELOW = `${ESCAPE}J`;

/** A part of the terminal that is redrawn in place. */
interface Screen {
  /** Requests a redraw, within a tenth of a second. */
  changed(): void;
  /** Draws the last state and restores the terminal. */
  stop(): void;
}

/** Makes a screen that draws the lines of `render`, at most ten times a second and at least once a second. */
export function createScreen(
  output: Output,
  clock: Clock,
  render: (size: { columns: number; rows: number }) => readonly string[],
): Screen {
  const stopped = new AbortController();
  let drawn = 0;
  let wake = new AbortController();
  let dirty = true;

  function draw(): void {
    // One row stays free: writing the last one scrolls, and the cursor would return to the wrong row.
    const size = { columns: output.columns ?? SIZE_DEFAULT.columns, rows: (output.rows ?? SIZE_DEFAULT.rows) - 1 };
    const lines = render(size);
    const back = drawn === 0 ? "" : `${ESCAPE}${drawn}A`;
    output.write(`${back}\r${CLEAR_BELOW}${lines.join("\n")}\n`);
    drawn = lines.length;
    dirty = false;
  }

  async function run(): Promise<void> {
    output.write(HIDE_CURSOR);
    while (!stopped.signal.aborted) {
      draw();
      await clock.wait(REDRAW_MIN_MS, stopped.signal);
      wake = new AbortController();
      if (stopped.signal.aborted) break;
      if (!dirty) await clock.wait(REDRAW_MAX_MS - REDRAW_MIN_MS, wake.signal);
    }
  }
  void run();

  return {
    changed() {
      dirty = true;
      wake.abort();
    },
    stop() {
      if (stopped.signal.aborted) return;
      stopped.abort();
      wake.abort();
      draw();
      output.write(SHOW_CURSOR);
    },
  };
}
