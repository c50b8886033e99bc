import type { Clock } from "#lib/clock";
import type { Listing } from "#lib/domain/instrument";
import type { Tick } from "#lib/domain/tick";
import type { Logger } from "#lib/log";
import { ImportFailure, Unsure } from "#server/import/failure";
import { createSourceFinder, filesOf, type SourceFinder } from "#server/import/files/sources";
import { contentOf } from "#server/import/files/text";
import { knownClock } from "#server/import/formats/clocks";
import { readOptions } from "#server/import/options";
import type { ReaderSettings, RowSink } from "#server/import/rows/row";
import { type Prepared, prepare, type Survey, surveyFiles } from "#server/import/survey/survey";
import type { TickSources } from "./replay";

/** One recording: its file or folder, and the ticker it is replayed as. */
interface Recording {
  readonly ticker: string;
  readonly file: string;
}

/**
 * Parses the REPLAY_FILES setting: entries of the form TICKER=path.
 * @throws Error naming an entry of another form.
 */
function parseRecordings(entries: readonly string[]): Recording[] {
  if (entries.length === 0)
    throw new Error("LIVE_FEED=replay needs REPLAY_FILES: comma-separated TICKER=path, or REPLAY_FROM for stored ticks");
  return entries.map((entry) => {
    const [, ticker, file] = /^([A-Za-z0-9]{3,20})=(.+)$/.exec(entry) ?? [];
    if (ticker === undefined || file === undefined) throw new Error(`REPLAY_FILES: "${entry}" is not of the form TICKER=path`);
    return { ticker: ticker.toUpperCase(), file };
  });
}

interface ReadOptions {
  listings: readonly Listing[];
  clock: Clock;
  log: Logger;
  signal: AbortSignal;
}

/** A source of ticks, with everything that is needed to read it. */
interface TickSource extends Prepared {
  /** Reads its rows in order. `row` gets the same object for each. */
  read(settings: ReaderSettings, sink: RowSink): AsyncGenerator<void>;
}

/** A recording that does not show its clock is played on the likely one: a replay is not history, so it does not ask. */
function likelyClocks(survey: Survey): Survey {
  return {
    ...survey,
    clockOf(file) {
      try {
        return survey.clockOf(file);
      } catch (error) {
        const { clock } = file.recognition;
        const [likely] = "detect" in clock ? clock.detect.likely : [];
        if (!(error instanceof Unsure) || likely === undefined) throw error;
        return { clock: knownClock(likely), because: "the likely one of its format" };
      }
    },
  };
}

/**
 * The sources of ticks in a file or folder, by name, in any tick format the importer supports.
 * @param ticker null: as each file says
 * @throws ImportFailure or UsageError if a file does not contain ticks, or its ticker is not listed
 */
export async function* tickSources(file: string, ticker: string | null, options: ReadOptions): AsyncGenerator<TickSource> {
  const finder = createSourceFinder();
  try {
    yield* sourcesIn(file, ticker, finder, options);
  } finally {
    await finder.close();
  }
}

async function* sourcesIn(file: string, ticker: string | null, finder: SourceFinder, given: ReadOptions) {
  const { listings, clock, log, signal } = given;
  // Dukascopy's own months: a replay is not history, so it does not ask.
  const values = {
    venue: "live",
    months: "0",
    force: false,
    "accept-doubts": false,
    "dry-run": false,
    ...(ticker !== null && { ticker }),
  };
  const options = readOptions(values, [file]);
  const terminal = { line: (text: string) => log.debug({ file, text }), bar: null };
  const files = await filesOf([file]);
  const context = { options, listings, terminal, clock, signal, store: null };
  const survey = likelyClocks(await surveyFiles(files, finder, context));
  for (const one of files) {
    const { sources, skipped } = await finder.sourcesOf(one);
    for (const name of skipped) log.debug({ file: one, name }, "skipping a file in the archive");
    for (const source of sources) {
      const prepared = await prepare(source, survey, context);
      if (prepared === null) continue;
      if (prepared.recognition.kind !== "ticks") throw new ImportFailure(`${source.name} holds klines; a replay needs ticks`);
      yield { ...prepared, read: (settings: ReaderSettings, sink: RowSink) => readRows(prepared, settings, sink) };
    }
  }
}

/** Yields after each part of the rows. */
async function* readRows({ source, recognition }: Prepared, settings: ReaderSettings, sink: RowSink): AsyncGenerator<void> {
  const reader = recognition.createReader(settings, sink);
  for await (const chunk of contentOf(source)) {
    reader.push(chunk);
    yield;
  }
  reader.end();
  yield;
}

/**
 * The ticks of a recording in the order of its file, or of the files of its folder by name. Rows that cannot be read or that go
 * back in time are skipped and counted in the log.
 * @throws ImportFailure or UsageError if the file does not contain ticks, or its ticker is not listed
 */
async function* ticksOf({ ticker, file }: Recording, options: ReadOptions): AsyncGenerator<Tick> {
  let lastMs = Number.NEGATIVE_INFINITY;
  for await (const { source, settings, read } of tickSources(file, ticker, options)) {
    let ticks: Tick[] = [];
    let skipped = 0;
    const sink: RowSink = {
      row({ timeMs, bid, ask, volume }) {
        if (timeMs < lastMs) {
          skipped += 1;
          return;
        }
        lastMs = timeMs;
        ticks.push({ ticker, time_msc: timeMs, bid, ask, ...(volume >= 0 && { volume }) });
      },
      malformed() {
        skipped += 1;
      },
    };
    for await (const _ of read(settings, sink)) {
      yield* ticks;
      ticks = [];
    }
    if (skipped > 0)
      options.log.warn({ file: source.name, rows: skipped }, "skipped malformed or out-of-order rows of the recording");
  }
}

interface FilesOptions extends Omit<ReadOptions, "listings" | "signal"> {
  /** Entries TICKER=path: tick files in any format the importer supports. */
  readonly files: readonly string[];
  readonly listings: () => readonly Listing[];
}

/**
 * Files of ticks as sources of a replay.
 * @throws Error at once when an entry of `files` is not of the form TICKER=path.
 */
export function fileSources({ files, listings, clock, log }: FilesOptions): TickSources {
  const recordings = parseRecordings(files);
  return (signal) => {
    const options = { listings: listings(), clock, log, signal };
    return recordings.map((recording) => ticksOf(recording, options));
  };
}
