import type { Client, PushMessage, Selection, SpotwireError, StateChange } from "#lib/client/index";
import type { Clock } from "#lib/clock";
import { durationText } from "#lib/duration";
import type { Output } from "./run-command";
import { type Board, createBoard } from "./stream-board";
import { createScreen } from "./stream-screen";
import { renderBoard } from "./stream-table";

/** The environment of the command. */
interface StreamTerminal {
  readonly output: Output;
  /** The same without escaping, for the table. */
  readonly screen: Output;
  readonly errors: Output;
  readonly clock: Clock;
  /** Aborts to end the command, as on Ctrl-C. */
  readonly signal: AbortSignal;
}

/** The parsed command line. */
export interface StreamCommand {
  readonly client: Client;
  readonly url: string;
  readonly selection: Selection;
  /** The name of the stream: `quote`, `kline M1`. */
  readonly title: string;
  /** Prints lines instead of a table, even on a terminal. */
  readonly lines: boolean;
}

/** Shared by lines and table. */
interface Show {
  changed(): void;
  record(record: PushMessage): void;
  /** Shows a message that is not a record: for the reader, not for the pipe. */
  remark(text: string): void;
  /** Ends the output. */
  stop(failure: SpotwireError | undefined): void;
}

/** A record as one line, for files and pipes. */
function recordLine(record: PushMessage): string {
  const { ticker, event, epoch, seq, merged, data } = record;
  const [time, prices] =
    data.type === "kline"
      ? [data.time * 1000, `${data.timeframe} ${data.open} ${data.high} ${data.low} ${data.close}`]
      : [data.time_msc, `${data.bid} ${data.ask}`];
  const stands = merged === undefined ? "" : ` merged ${merged}`;
  const closed = record.type === "kline" && record.closed ? " closed" : "";
  return `${new Date(time).toISOString()} ${data.type} ${ticker} ${prices} ${event} ${epoch}/${seq}${stands}${closed}`;
}

function noteOf({ attempt, retryInMs, error }: StateChange): string {
  return [
    attempt !== undefined && attempt > 1 ? `try ${attempt}` : "",
    retryInMs !== undefined ? `next try in ${durationText(retryInMs)}` : "",
    error?.message ?? "",
  ]
    .filter(Boolean)
    .join(", ");
}

function showTable(board: Board, { screen: output, errors, clock }: StreamTerminal): Show {
  const screen = createScreen(output, clock, (size) => renderBoard(board.view, clock.now(), size));
  function stop(failure: SpotwireError | undefined): void {
    screen.stop();
    // The table may have truncated it.
    if (failure !== undefined) errors.write(`${failure.message}\n`);
  }
  return { changed: screen.changed, record: screen.changed, remark: screen.changed, stop };
}

function showLines({ output, errors }: StreamTerminal): Show {
  return {
    changed: () => {},
    record: (record) => void output.write(`${recordLine(record)}\n`),
    remark: (text) => void errors.write(`${text}\n`),
    stop: () => {},
  };
}

/**
 * Streams and shows records until the signal aborts or the stream fails.
 * @returns the failure; undefined when the signal aborted. It is a failure if the first connection cannot be made, or all
 * tickers are unknown.
 */
export async function follow(command: StreamCommand, terminal: StreamTerminal): Promise<SpotwireError | undefined> {
  const { client, selection, title, url } = command;
  const { clock, signal } = terminal;
  const board = createBoard(title, url, [...new Set(selection.tickers.map((ticker) => ticker.trim().toUpperCase()))]);
  const show = terminal.output.isTTY && !command.lines ? showTable(board, terminal) : showLines(terminal);
  let wasOpen = false;
  let failure: SpotwireError | undefined;

  function market(ticker: string, state: string): void {
    board.market(ticker, state);
    show.changed();
  }

  const stream = client.stream({
    onError: (error) => {
      board.trouble(error.message);
      show.remark(error.message);
      // The first connection failed: a wrong address is likelier than a restart.
      if (!wasOpen && error.id === "network_error") {
        failure = error;
        stream.close();
      }
    },
    onOpen: ({ venue, connection_id }) => {
      wasOpen = true;
      board.trouble("");
      board.connection("open", `${venue}, connection ${connection_id}`);
      show.changed();
    },
    onStateChange: (change) => {
      board.connection(change.state, noteOf(change));
      show.remark([change.state, noteOf({ ...change, error: undefined })].filter(Boolean).join("  "));
    },
    onStatus: ({ ticker, final_display_state: state }) => {
      market(ticker, state);
      show.remark(`${ticker} market ${state}`);
    },
    onHeartbeat: ({ quiet }) => {
      for (const { ticker, final_display_state } of quiet) market(ticker, final_display_state);
    },
    onGap: (gap) => {
      board.gap(gap);
      show.remark(`${gap.ticker} gap: ${gap.expected ?? "another epoch"} to ${gap.received}`);
    },
    onRecord: (record) => {
      board.record(record, clock.now());
      show.record(record);
    },
  });
  signal.addEventListener("abort", stream.close, { once: true });
  if (signal.aborted) stream.close();
  else {
    stream.subscribe(selection).ready.then(
      ({ accepted, quiet }) => {
        for (const ticker of accepted) market(ticker, "open");
        for (const { ticker, final_display_state } of quiet) market(ticker, final_display_state);
      },
      (error: SpotwireError) => {
        if (!signal.aborted) failure ??= error;
        stream.close();
      },
    );
  }
  await stream.closed.catch((error: SpotwireError) => {
    failure = error;
  });
  signal.removeEventListener("abort", stream.close);
  show.stop(failure);
  return failure;
}
