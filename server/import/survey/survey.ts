import path from "node:path";
import type { Clock } from "#lib/clock";
import { HOUR_MS } from "#lib/units";
import { ImportFailure, outcomeOf, Unsure } from "#server/import/failure";
import type { Source } from "#server/import/files/archives";
import type { SourceFinder } from "#server/import/files/sources";
import { contentOf, takeBytes } from "#server/import/files/text";
import { knownClocks, type SourceClock, shiftedClock, utcOn } from "#server/import/formats/clocks";
import type { ClockRule } from "#server/import/formats/format";
import type { Options } from "#server/import/options";
import { startProgress, type Terminal } from "#server/import/progress";
import type { ReaderSettings } from "#server/import/rows/row";
import type { KlineTable } from "#server/store/klines/kline-store";
import {
  type DetectedClock,
  detectClock,
  distinctClocks,
  evidenceOf,
  isClosedOn,
  type TimedFile,
  unsureOf,
  weeklyHours,
} from "./clock";
import { asWritten, decide, isOpen } from "./decide";
import { type Identified, type ImportListing, identify, statedClock } from "./identify";
import { clockOfStored, thinned } from "./stored-clock";
import { checkAlignment, createIntervals, type Intervals, MISALIGNED_MAX_SHARE, misalignedReason } from "./timeframe";
import { createValues, type Values } from "./values";

/** Bytes of a file that its format is detected from: two weeks of M1 klines, including the fillers of a weekend. */
const HEAD_MAX_BYTES = 1_048_576;
/** Times of a file of longer klines that are checked: those of decades. Later ones are checked one by one when they are stored. */
const TIMES_MAX_COUNT = 5_000_000;

/** What the files of a run are surveyed with. */
export interface SurveyContext {
  readonly options: Options;
  readonly listings: readonly ImportListing[];
  readonly terminal: Terminal;
  readonly clock: Clock;
  readonly signal: AbortSignal;
  /** Where the rows will be stored; null where they are only played, and need not agree with anything. */
  readonly store: Pick<KlineTable, "klinesAt"> | null;
}

/** What one reading of a file shows, before anything of it is stored. */
interface Surveyed extends Identified, TimedFile {
  readonly source: Source;
  readonly intervals: Intervals;
  /** The times of klines longer than a minute: on the clock of the file where it has to be detected, else UTC. */
  readonly timesMs: readonly number[];
  /** What spreads and volumes show: of all rows where the first ones do not decide. */
  readonly values: Values;
}

/** What is known of the files of a run before any of them is stored. */
export interface Survey {
  /**
   * A file of the run, which is read now unless its clock was looked for.
   * @returns null for an empty .bi5 file: an hour or day without quotes
   * @throws ImportFailure that says what cannot be imported or must be set
   */
  fileOf(source: Source): Promise<Surveyed | null>;
  /** The clock of a file whose format leaves it open. @throws Unsure when it cannot be said */
  clockOf(file: Surveyed): DetectedClock;
}

/**
 * Reads the beginning of a file, and the rest where only all of its rows show its clock, its units, or whether they are our klines.
 * @param isUnlabelled true to read its times as they are written, and look at them as if nothing stated their clock
 */
async function surveySource(source: Source, context: SurveyContext, isUnlabelled = false): Promise<Surveyed | null> {
  const { options, listings, terminal, clock, signal, store } = context;
  let readBytes = 0;
  const chunks = contentOf(source, (bytes) => {
    readBytes = bytes;
  })[Symbol.asyncIterator]();
  try {
    const head = await takeBytes(chunks, HEAD_MAX_BYTES);
    const found = identify(source, head, head.length < HEAD_MAX_BYTES, options, listings);
    if (found === null) return null;
    const { recognition, listing, timeframe } = found;
    const stated = isUnlabelled ? null : statedClock(found, options);
    const intervals = createIntervals(timeframe, listing.assetClass);
    const collector = evidenceOf(found);
    const timesMs: number[] = [];
    const values = createValues();
    const file = (shown: Values) => {
      const evidence = collector.evidence();
      // Of a stated clock, only rows to compare with stored ones are kept.
      const kept = stated === null ? evidence : { ...evidence, runs: [], weekends: [], samples: thinned(evidence.samples) };
      return { ...found, source, intervals, hours: weeklyHours(listing.assetClass), evidence: kept, timesMs, values: shown };
    };
    const isLonger = timeframe !== "M1";
    const isRead = stated === null || isLonger || isOpen(found, options);
    const isCompared = recognition.layout !== null && store !== null;
    if (!isRead && !isCompared) return file(found.sample.values);
    let [rows, isHead] = [0, true];
    const settings = asWritten(found, options);
    const written = isUnlabelled ? { ...settings, overrulesOffset: true } : settings;
    const reader = recognition.createReader(stated === null ? written : { ...written, toUtcMs: utcOn(stated.clock) }, {
      row(row) {
        rows += 1;
        values.row(row);
        if (stated === null || isHead) collector.row(row);
        if (isLonger && timesMs.length < TIMES_MAX_COUNT) timesMs.push(row.timeMs);
      },
    });
    reader.push(head);
    isHead = false;
    if (!isRead) return file(found.sample.values);
    const title = stated === null ? "detecting the clock" : isLonger ? "checking the times" : "checking the units";
    const progress = startProgress(terminal, title, source.sizeBytes, clock);
    try {
      for (let next = await chunks.next(); next.done !== true; next = await chunks.next()) {
        if (signal.aborted) throw new ImportFailure("interrupted");
        reader.push(next.value);
        progress.update(readBytes, rows);
      }
      reader.end();
    } finally {
      progress.stop();
    }
    return file(values.values());
  } finally {
    await chunks.return?.();
  }
}

/** The rule for the clock of files whose format leaves it open. */
const ruleOf = ({ recognition: { clock } }: Surveyed): ClockRule => ("detect" in clock ? clock.detect : { likely: [] });

/** Files with the same one come from one source: their folder, and the form of their rows. */
const originOf = ({ source, recognition }: Surveyed) => JSON.stringify([path.dirname(source.path), recognition.layout]);

/** Files with the same key, in their order. */
function groupsOf(files: readonly Surveyed[], keyOf: (file: Surveyed) => string): Surveyed[][] {
  const groups = new Map<string, Surveyed[]>();
  for (const file of files) groups.set(keyOf(file), [...(groups.get(keyOf(file)) ?? []), file]);
  return [...groups.values()];
}

/** The clock among several of the prices that are stored for the times of a file; undefined when too little is stored to tell. */
async function storedClock(file: Surveyed, clocks: readonly SourceClock[], store: SurveyContext["store"]) {
  const { evidence, listing, recognition, timeframe } = file;
  const rows = { kind: recognition.kind, timeframe };
  if (store === null) return undefined;
  return clockOfStored(clocks, evidence.samples, rows, (...asked) => store.klinesAt(listing.ticker, ...asked));
}

const sameOn = (a: SourceClock, b: SourceClock, file: TimedFile) => distinctClocks([a, b], [file]).length === 1;

/** The clock that files of one source share, or why it cannot be said. */
async function sharedClock(
  files: readonly Surveyed[],
  rule: ClockRule,
  { store }: SurveyContext,
): Promise<DetectedClock | Unsure> {
  const clocks = knownClocks(rule.likely);
  const hourOff = clocks.flatMap((clock) => [-HOUR_MS, HOUR_MS].map((ms) => shiftedClock(clock, ms)));
  let detected: DetectedClock | Unsure;
  try {
    detected = detectClock(files, rule);
  } catch (error) {
    if (!(error instanceof Unsure)) throw error;
    detected = error;
  }
  for (const file of files) {
    const stored = await storedClock(file, distinctClocks([...clocks, ...hourOff], [file]), store);
    if (stored === undefined) continue;
    if (detected instanceof Unsure) {
      const named = clocks.find((clock) => sameOn(clock, stored, file));
      if (named === undefined || isClosedOn(named, file)) return detected;
      detected = { clock: named, because: "the prices are those that are stored for the same times" };
    } else if (!sameOn(detected.clock, stored, file))
      return unsureOf(
        `${file.source.name}: its rows fit ${detected.clock.title}, but the same minutes are stored at other times`,
        [detected.clock],
      );
  }
  return detected;
}

type Outcome = DetectedClock | ImportFailure;
type Outcomes = Map<Source, Outcome>;

/** Files one by one, where they share no clock: those whose clock is not known take the one on which all others are, if it fits. */
async function clockOfEach(
  files: readonly Surveyed[],
  rule: ClockRule,
  unsure: Unsure,
  context: SurveyContext,
): Promise<Outcomes> {
  const outcomes: Outcomes = new Map();
  const found = new Map<string, { readonly clock: SourceClock; readonly name: string }>();
  for (const file of files) {
    const outcome = await sharedClock([file], rule, context);
    outcomes.set(file.source, outcome);
    if (!(outcome instanceof Unsure)) found.set(outcome.clock.name, { clock: outcome.clock, name: file.source.name });
  }
  const [only, ...others] = found.values();
  const named = [...found].map(([clock, { name }]) => `${name} on ${clock}`).join(", ");
  const several = new Unsure(
    `its rows do not show its clock, and the files of this run are on different clocks: ${named}. Set it with --tz`,
  );
  for (const file of files) {
    if (!(outcomes.get(file.source) instanceof Unsure)) continue;
    if (only === undefined) outcomes.set(file.source, unsure);
    else if (others.length > 0) outcomes.set(file.source, several);
    else if (!isClosedOn(only.clock, file))
      outcomes.set(file.source, { clock: only.clock, because: "the other files of its source are on it" });
  }
  return outcomes;
}

/** The clocks of files of one format: of all together, else of each source, else of each file. */
async function clocksOf(files: readonly Surveyed[], rule: ClockRule, context: SurveyContext): Promise<Outcomes> {
  const shared = await sharedClock(files, rule, context);
  const ofAll = (outcome: Outcome) => new Map(files.map(({ source }) => [source, outcome]));
  if (!(shared instanceof Unsure)) return ofAll(shared);
  const origins = groupsOf(files, originOf);
  if (origins.length > 1) {
    const outcomes: Outcomes = new Map();
    for (const part of origins) for (const each of await clocksOf(part, rule, context)) outcomes.set(...each);
    return outcomes;
  }
  if (files.every(({ evidence }) => evidence.long)) return ofAll(judgeLong(files, rule, shared));
  return files.length > 1 ? clockOfEach(files, rule, shared, context) : ofAll(shared);
}

/** Share of the klines of a file that open at other times than ours on a clock. */
function misalignedShare(clock: SourceClock, { evidence: { runs }, intervals }: Surveyed): number {
  const off = runs.filter(({ fromMs }) => intervals.openOf(clock.toUtcMs(fromMs)) === null);
  return off.length / Math.max(runs.length, 1);
}

/** Whether all clocks make the same klines of the rows, as they do of weeks. */
function areAlike(clocks: readonly SourceClock[], { evidence: { runs }, intervals }: Surveyed): boolean {
  const [first, ...others] = clocks;
  if (first === undefined) return false;
  const openOn = (clock: SourceClock, fromMs: number) => intervals.openOf(clock.toUtcMs(fromMs));
  return runs.every(({ fromMs }) => others.every((other) => openOn(other, fromMs) === openOn(first, fromMs)));
}

/**
 * Klines longer than an hour show little of their clock. They are taken if it makes no difference, and refused if they cannot
 * be ours on any clock that is possible; else the clocks on which they are ours are named.
 */
function judgeLong(files: readonly Surveyed[], rule: ClockRule, unsure: Unsure): DetectedClock | ImportFailure {
  const possible = distinctClocks(knownClocks(rule.likely), files).filter((clock) =>
    files.every((file) => !isClosedOn(clock, file)),
  );
  const ours = possible.filter((clock) => files.every((file) => misalignedShare(clock, file) <= MISALIGNED_MAX_SHARE));
  const [file] = files;
  const [likely] = possible;
  if (likely === undefined || file === undefined) return unsure;
  if (ours.length === possible.length && files.every((one) => areAlike(possible, one)))
    return { clock: likely, because: "all clocks that fit its rows make the same klines of them" };
  if (ours.length > 0)
    return unsureOf("klines longer than an hour do not show their clock: pass H1 or M1 of the same source with them", ours);
  const timesMs = file.evidence.runs.map(({ fromMs }) => likely.toUtcMs(fromMs));
  return new ImportFailure(`on every clock that fits, ${misalignedReason(file.intervals, timesMs)}`);
}

/**
 * The clock of a file by its times as they are written, whatever states another one, or why they do not show it.
 * @returns the clock, or an error whose message names those that fit
 */
export async function clockAsWritten({ source }: Pick<Surveyed, "source">, context: SurveyContext): Promise<Outcome> {
  const found = await outcomeOf(surveySource(source, { ...context, options: { ...context.options, clock: null } }, true));
  if (found instanceof Error) return found;
  const unknown = new ImportFailure("it has no rows");
  if (found === null) return unknown;
  return (await clocksOf([found], ruleOf(found), context)).get(source) ?? unknown;
}

/**
 * Finds the clocks of all files of a run whose format leaves it open. Files of one format are taken as one source, which has
 * one clock; if they have none in common, those of each source are judged for themselves. Files that cannot be read are left to the import, which reports them.
 */
export async function surveyFiles(
  files: readonly string[],
  finder: Pick<SourceFinder, "sourcesOf">,
  context: SurveyContext,
): Promise<Survey> {
  const surveyed = new Map<Source, Promise<Surveyed | null>>();
  const unstated: Surveyed[] = [];
  const clocks: Outcomes = new Map();
  for (const file of context.options.clock === null ? files : []) {
    const opened = await outcomeOf(finder.sourcesOf(file));
    for (const source of opened instanceof Error ? [] : opened.sources) {
      // Thousands of small files, whose clock is known.
      if (/\.bi5$/i.test(source.path)) continue;
      const reading = surveySource(source, context);
      surveyed.set(source, reading);
      const found = await outcomeOf(reading);
      if (found !== null && !(found instanceof Error) && "detect" in found.recognition.clock) unstated.push(found);
    }
  }
  for (const group of groupsOf(unstated, ({ format }) => format.id))
    for (const each of await clocksOf(group, ruleOf(group[0] as Surveyed), context)) clocks.set(...each);
  return {
    fileOf(source) {
      const file = surveyed.get(source) ?? surveySource(source, context);
      // A run has thousands of them, and asks for each once.
      surveyed.delete(source);
      return file;
    },
    clockOf({ source }) {
      const outcome = clocks.get(source);
      if (outcome === undefined) throw new ImportFailure("it could not be read when its clock was looked for");
      if (outcome instanceof Error) throw outcome;
      return outcome;
    },
  };
}

/** A file with everything that is needed to read its rows. */
export interface Prepared extends Surveyed {
  readonly clock: DetectedClock;
  readonly settings: ReaderSettings;
  readonly notes: readonly string[];
}

/**
 * Detects everything that is needed to read the rows of a file.
 * @returns null for an empty .bi5 file: an hour or day without quotes
 * @throws ImportFailure that says what cannot be imported or must be set.
 */
export async function prepare(source: Source, survey: Survey, { options }: SurveyContext): Promise<Prepared | null> {
  const file = await survey.fileOf(source);
  if (file === null) return null;
  const { timeframe, intervals, timesMs } = file;
  const stated = statedClock(file, options);
  const clock = stated ?? survey.clockOf(file);
  const { settings, notes } = decide(file, file.values, clock.clock, options);
  const utcMs = stated === null ? timesMs.map(settings.toUtcMs) : timesMs;
  const alignment = timeframe === "M1" ? [] : checkAlignment(intervals, utcMs);
  return { ...file, clock, settings, notes: [...notes, ...alignment] };
}
