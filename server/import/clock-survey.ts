import path from "node:path";
import type { Clock } from "#lib/clock";
import type { Timeframe } from "#lib/contract/primitives";
import { TIMEFRAME_SECONDS } from "#lib/domain/timeframe";
import type { KlineTable } from "#lib/market/kline-store";
import { HOUR_MS, SECOND_MS } from "#lib/units";
import { MISALIGNED_MAX_SHARE, misalignedReason } from "./alignment";
import {
  type ClockRule,
  type DetectedClock,
  detectClock,
  distinctClocks,
  isClosedOn,
  type TimedFile,
  unsureOf,
} from "./clock-detect";
import { type ClockEvidence, createEvidenceCollector } from "./clock-evidence";
import { weeklyHours } from "./clock-judge";
import { clockOfStored } from "./clock-overlap";
import { knownClock, knownClocks, type SourceClock, shiftedClock } from "./clock-zone";
import type { Source } from "./decompress";
import { ImportFailure, isFileError, Unsure } from "./failure";
import { type Identified, type ImportListing, identify } from "./identify";
import { createIntervals, type Intervals, isLong } from "./interval";
import { scanFile } from "./load";
import type { Options } from "./options";
import type { Terminal } from "./progress";
import { AS_WRITTEN, type ReaderSettings, type Row, type RowKind } from "./row";
import type { SourceFinder } from "./sources";

/** Hours around a stated clock that stored prices are compared on. */
const COMPARED_HOURS = [-3, -2, -1, 1, 2, 3];

interface SurveyContext {
  readonly finder: Pick<SourceFinder, "sourcesOf">;
  readonly options: Options;
  readonly listings: readonly ImportListing[];
  readonly store: Pick<KlineTable, "klinesAt">;
  readonly terminal: Terminal;
  readonly clock: Clock;
  readonly signal: AbortSignal;
}

/** The clocks of the files of one run, found before any of them is stored. */
export interface ClockSurvey {
  /** The clock of a source whose format leaves it open. @throws Unsure when it cannot be said */
  clockOf(source: Source, rule: ClockRule): DetectedClock;
}

/** One source whose clock is looked for. */
interface Surveyed extends TimedFile {
  readonly name: string;
  /** Files with the same one come from one source: their folder, and the form of their rows. */
  readonly origin: string;
  readonly ticker: string;
  readonly kind: RowKind;
  readonly timeframe: Timeframe;
  readonly intervals: Intervals;
}

/** Collects evidence from the rows of a file; klines without a quote say nothing. */
export function evidenceOf({ recognition: { kind }, timeframe }: Pick<Identified, "recognition" | "timeframe">) {
  const collector = createEvidenceCollector(kind === "ticks" ? 0 : TIMEFRAME_SECONDS[timeframe] * SECOND_MS);
  const priceOf = (row: Row) => (isLong(timeframe) ? row.open : row.close);
  return {
    row(row: Row): void {
      const { timeMs, bid, high, low, tickVolume, realVolume } = row;
      const isFiller =
        kind === "klines" && high === low && (tickVolume === 0 || realVolume === 0) && !(tickVolume > 0) && !(realVolume > 0);
      if (!isFiller) collector.row(timeMs, kind === "ticks" ? bid : priceOf(row));
    },
    evidence: collector.evidence,
  };
}

async function scan(source: Source, found: Identified, context: SurveyContext): Promise<ClockEvidence> {
  const evidence = evidenceOf(found);
  await scanFile("detecting the clock", source, found.recognition, AS_WRITTEN, context, evidence.row);
  return evidence.evidence();
}

/** The clock of the prices that are stored for the same minutes, of the known clocks and those an hour from them. */
async function storedClock({ evidence, ticker, ...rows }: Surveyed, clocks: readonly SourceClock[], { store }: SurveyContext) {
  const asked = distinctClocks(
    [...clocks, ...clocks.flatMap((clock) => [-HOUR_MS, HOUR_MS].map((ms) => shiftedClock(clock, ms)))],
    [{ evidence }],
  );
  return clockOfStored(asked, evidence.samples, rows, (...asked) => store.klinesAt(ticker, ...asked));
}

const sameOn = (a: SourceClock, b: SourceClock, file: TimedFile) => distinctClocks([a, b], [file]).length === 1;

/** The clock that files of one source share. */
async function sharedClock(files: readonly Surveyed[], rule: ClockRule, context: SurveyContext): Promise<DetectedClock> {
  const clocks = knownClocks(rule.likely);
  let detected: DetectedClock | Unsure;
  try {
    detected = detectClock(files, rule);
  } catch (error) {
    if (!(error instanceof Unsure)) throw error;
    detected = error;
  }
  for (const file of files) {
    const stored = await storedClock(file, clocks, context);
    if (stored === undefined) continue;
    const because = "the prices are those that are stored for the same times";
    if (detected instanceof Unsure) {
      const named = clocks.find((clock) => sameOn(clock, stored, file));
      if (named === undefined || isClosedOn(named, file)) throw detected;
      detected = { clock: named, because };
    } else if (!sameOn(detected.clock, stored, file))
      throw unsureOf(`${file.name}: its rows fit ${detected.clock.title}, but the same minutes are stored at other times`, [
        detected.clock,
      ]);
  }
  if (detected instanceof Unsure) throw detected;
  return detected;
}

type Outcomes = Map<string, DetectedClock | ImportFailure>;

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
    const outcome = await sharedClock([file], rule, context).catch((error) => {
      if (!(error instanceof Unsure)) throw error;
      return error;
    });
    outcomes.set(file.name, outcome);
    if (!(outcome instanceof Unsure)) found.set(outcome.clock.name, { clock: outcome.clock, name: file.name });
  }
  const [only, ...others] = found.values();
  const named = [...found].map(([clock, { name }]) => `${name} on ${clock}`).join(", ");
  for (const file of files) {
    if (!(outcomes.get(file.name) instanceof Unsure)) continue;
    if (only === undefined) outcomes.set(file.name, unsure);
    else if (others.length > 0)
      outcomes.set(
        file.name,
        new Unsure(
          `its rows do not show its clock, and the files of this run are on different clocks: ${named}. Set it with --tz`,
        ),
      );
    else if (!isClosedOn(only.clock, file))
      outcomes.set(file.name, { clock: only.clock, because: "the other files of its source are on it" });
  }
  return outcomes;
}

/** The clocks of files of one format: of all together, else of each source, else of each file. */
async function clocksOf(files: readonly Surveyed[], rule: ClockRule, context: SurveyContext): Promise<Outcomes> {
  try {
    const shared = await sharedClock(files, rule, context);
    return new Map(files.map(({ name }) => [name, shared]));
  } catch (error) {
    if (!(error instanceof Unsure)) throw error;
    const origins = new Set(files.map(({ origin }) => origin));
    if (origins.size > 1) {
      const parts: Outcomes[] = [];
      for (const origin of origins)
        parts.push(
          await clocksOf(
            files.filter((file) => file.origin === origin),
            rule,
            context,
          ),
        );
      return new Map(parts.flatMap((part) => [...part]));
    }
    if (files.length > 1 && files.some(({ evidence }) => !evidence.long)) return clockOfEach(files, rule, error, context);
    const outcome = files.every(({ evidence }) => evidence.long) ? judgeLong(files, rule, error) : error;
    return new Map(files.map(({ name }) => [name, outcome]));
  }
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

async function surveySource(
  source: Source,
  context: SurveyContext,
): Promise<{ format: string; rule: ClockRule; file: Surveyed } | null> {
  const { options, listings } = context;
  const found = await identify(source, options, listings);
  if (found === null) return null;
  const { recognition, format, listing, timeframe } = found;
  const { clock } = recognition;
  if ("fixed" in clock) return null;
  const rule = clock.detect;
  const evidence = await scan(source, found, context);
  const file = {
    name: source.name,
    origin: JSON.stringify([path.dirname(source.path), recognition.layout]),
    ticker: listing.ticker,
    kind: recognition.kind,
    timeframe,
    intervals: createIntervals(timeframe, listing.assetClass),
    evidence,
    hours: weeklyHours(listing.assetClass),
  };
  return { format: format.id, rule, file };
}

/**
 * Finds the clocks of all files of a run whose format leaves it open. Files of one format are taken as one source, which has
 * one clock; if they have none in common, those of each source are judged for themselves. Files that cannot be read are left to the import, which reports them.
 */
export async function surveyClocks(files: readonly string[], context: SurveyContext): Promise<ClockSurvey> {
  const groups = new Map<string, { rule: ClockRule; files: Surveyed[] }>();
  const outcomes = new Map<string, DetectedClock | Error>();
  for (const path of context.options.clock === null ? files : []) {
    try {
      for (const source of (await context.finder.sourcesOf(path)).sources) {
        if (/\.bi5$/i.test(source.path)) continue;
        const found = await surveySource(source, context).catch((error) => {
          if (!isFileError(error)) throw error;
          outcomes.set(source.name, error);
          return null;
        });
        if (found === null) continue;
        const group = groups.get(found.format) ?? { rule: found.rule, files: [] };
        group.files.push(found.file);
        groups.set(found.format, group);
      }
    } catch (error) {
      if (!isFileError(error)) throw error;
    }
  }
  for (const group of groups.values())
    for (const [name, outcome] of await clocksOf(group.files, group.rule, context)) outcomes.set(name, outcome);
  return {
    clockOf({ name }) {
      const outcome = outcomes.get(name);
      if (outcome === undefined) throw new ImportFailure("it could not be read when its clock was looked for");
      if (outcome instanceof Error) throw outcome;
      return outcome;
    },
  };
}

/**
 * Checks the clock that a file states with the beginning of the file: stored prices of the same minutes an hour or more away are
 * proof against it.
 * @throws Unsure when there is such proof
 */
export async function checkStated(found: Identified, settings: ReaderSettings, store: SurveyContext["store"]): Promise<void> {
  const { recognition, listing, head, timeframe } = found;
  const rows = evidenceOf(found);
  const reader = recognition.createReader(settings, { row: rows.row });
  reader.push(head);
  const utc = knownClock("UTC");
  const evidence = rows.evidence();
  const others = COMPARED_HOURS.map((hours) => shiftedClock(utc, hours * HOUR_MS));
  const stored = await clockOfStored([utc, ...others], evidence.samples, { kind: recognition.kind, timeframe }, (...asked) =>
    store.klinesAt(listing.ticker, ...asked),
  );
  if (stored !== undefined && stored !== utc)
    throw unsureOf("the same klines are stored at other times than its rows state", [utc]);
}
