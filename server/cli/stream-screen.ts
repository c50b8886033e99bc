import type { Clock } from "#lib/clock";
import type { Output } from "./run-command";

/** Between two drawings at least; faster is not seen, only sent. */
const REDRAW_MIN_MS = 100;
/** Ages are drawn anew even when nothing comes. */
const REDRAW_MAX_MS = 1_000;
const SIZE_DEFAULT = { columns: 80, rows: 24 } as const;

const ESCAPE = "\u001b[";
const HIDE_CURSOR = `${ESCAPE}?25l`;
const SHOW_CURSOR = `${ESCAPE}?25h`;
const CLEAR_BELOW = `${ESCAPE}J`;

/** A part of the terminal that is drawn over in place. */
interface Screen {
  /** There is something new to draw; it is drawn within a tenth of a second. */
  changed(): void;
  /** Draws the last state and gives the terminal back. */
  stop(): void;
}

/** Makes a screen that draws what `render` gives, at most ten times a second and at least once. */
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
    // One row stays free: writing the last would scroll, and the way back up would be too short.
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
