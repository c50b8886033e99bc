import type { Clock } from "#lib/clock";
import type { Listing } from "#lib/domain/instrument";
import type { Tick } from "#lib/domain/tick";
import type { Logger } from "#lib/log";
import { type ClockSurvey, surveyClocks } from "#server/import/clock-survey";
import { knownClock } from "#server/import/clock-zone";
import type { Source } from "#server/import/decompress";
import { contentOf } from "#server/import/detect";
import { Unsure } from "#server/import/failure";
import { filesOf } from "#server/import/files";
import { readOptions } from "#server/import/options";
import { type Prepared, prepare } from "#server/import/prepare";
import { createSourceFinder, type SourceFinder } from "#server/import/sources";

/** One recording: its file or folder, and the ticker it is replayed as. */
interface Recording {
  readonly ticker: string;
  readonly file: string;
}

/**
 * Parses the REPLAY_FILES setting: entries of the form TICKER=path.
 * @throws Error naming an entry of another form.
 */
export function parseRecordings(entries: readonly string[]): Recording[] {
  if (entries.length === 0) throw new Error("LIVE_FEED=replay needs REPLAY_FILES: comma-separated TICKER=path");
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

const NOTHING_STORED = { klinesAt: async () => new Map() };

/** A recording that does not show its clock is played on the likely one: a replay is not history, so it does not ask. */
function likelyClocks(survey: ClockSurvey): ClockSurvey {
  return {
    clockOf(source, rule) {
      try {
        return survey.clockOf(source, rule);
      } catch (error) {
        const [likely] = rule.likely;
        if (!(error instanceof Unsure) || likely === undefined) throw error;
        return { clock: knownClock(likely), because: "the likely one of its format" };
      }
    },
  };
}

/**
 * The ticks of a recording in the order of its file, or of the files of its folder by name, in any tick format the importer
 * supports. Rows that cannot be read or that go back in time are skipped and counted in the log.
 * @throws ImportFailure or UsageError if the file does not contain ticks, or its ticker is not listed
 */
export async function* ticksOf(recording: Recording, options: ReadOptions): AsyncGenerator<Tick> {
  const finder = createSourceFinder();
  try {
    yield* ticksIn(recording, finder, options);
  } finally {
    await finder.close();
  }
}

async function* ticksIn({ ticker, file }: Recording, finder: SourceFinder, options: ReadOptions): AsyncGenerator<Tick> {
  const { listings, clock, log, signal } = options;
  // Dukascopy's own months: a replay is not history, so it does not ask.
  const parsed = readOptions({ venue: "live", ticker, months: "0", force: false, "dry-run": false }, [file]);
  const terminal = { line: (text: string) => log.debug({ file, text }), bar: null };
  const files = await filesOf([file]);
  const survey = likelyClocks(
    await surveyClocks(files, { options: parsed, listings, store: NOTHING_STORED, finder, terminal, clock, signal }),
  );
  const reached = { ms: Number.NEGATIVE_INFINITY };
  for (const one of files) {
    const { sources, skipped } = await finder.sourcesOf(one);
    for (const name of skipped) log.debug({ file: one, name }, "skipping a file in the archive");
    for (const source of sources) {
      const prepared = await prepare(source, { options: parsed, listings, terminal, clock, signal, survey, store: null });
      if (prepared === null) continue;
      if (prepared.recognition.kind !== "ticks")
        throw new Error(`REPLAY_FILES: ${source.name} holds klines; a replay needs ticks`);
      yield* readTicks(source, prepared, { ticker, reached, log });
    }
  }
}

interface Reading {
  readonly ticker: string;
  /** The time of the last tick, Unix milliseconds. */
  readonly reached: { ms: number };
  readonly log: Logger;
}

async function* readTicks(source: Source, prepared: Prepared, { ticker, reached, log }: Reading): AsyncGenerator<Tick> {
  let ticks: Tick[] = [];
  let skipped = 0;
  const reader = prepared.recognition.createReader(prepared.settings, {
    row({ timeMs, bid, ask, volume }) {
      if (timeMs < reached.ms) {
        skipped += 1;
        return;
      }
      reached.ms = timeMs;
      ticks.push({ ticker, time_msc: timeMs, bid, ask, ...(volume >= 0 && { volume }) });
    },
    malformed() {
      skipped += 1;
    },
    withoutQuote: () => undefined,
  });
  for await (const chunk of contentOf(source)) {
    reader.push(chunk);
    yield* ticks;
    ticks = [];
  }
  reader.end();
  yield* ticks;
  if (skipped > 0) log.warn({ file: source.name, rows: skipped }, "skipped malformed or out-of-order rows of the recording");
}

/** Merges several recordings into one, ordered by time. */
export async function* merged(recordings: readonly AsyncGenerator<Tick>[]): AsyncGenerator<Tick> {
  const heads = await Promise.all(recordings.map(async (ticks) => ({ ticks, next: await ticks.next() })));
  try {
    for (;;) {
      let first: (typeof heads)[number] | undefined;
      for (const head of heads) {
        if (head.next.done) continue;
        if (first === undefined || first.next.done || head.next.value.time_msc < first.next.value.time_msc) first = head;
      }
      if (first === undefined || first.next.done) return;
      yield first.next.value;
      first.next = await first.ticks.next();
    }
  } finally {
    await Promise.all(recordings.map((ticks) => ticks.return(undefined)));
  }
}
