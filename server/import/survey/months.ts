import { outcomeOf } from "#server/import/failure";
import type { Source } from "#server/import/files/archives";
import type { SourceFinder } from "#server/import/files/sources";
import { contentOf, takeBytes } from "#server/import/files/text";
import { headOf, recognise } from "#server/import/formats/detect";
import { startInPath } from "#server/import/formats/dukascopy";
import type { Options } from "#server/import/options";
import { AS_WRITTEN } from "#server/import/rows/row";

/** Files whose rows are read, for each way to count. */
const EXAMINED_MAX_COUNT = 60;
const SATURDAY = 6;
/** Files that can hold .bi5 files. */
const MAY_HOLD = /\.(bi5|zip|gz|tgz|tar)$/i;

/** The number of January in the paths of .bi5 files. */
type Months = 0 | 1;

/** Whether a file has quotes; candles of closed hours have a volume of 0. */
async function hasQuotes(source: Source, options: Options): Promise<boolean> {
  const bytes = await takeBytes(contentOf(source)[Symbol.asyncIterator](), Number.POSITIVE_INFINITY);
  const { recognition } = recognise(headOf(source, bytes, { ...options, months: 0, dateMs: 0 }), null);
  let quotes = false;
  const reader = recognition.createReader(AS_WRITTEN, {
    row({ realVolume }) {
      quotes ||= recognition.kind === "ticks" || realVolume > 0;
    },
  });
  reader.push(bytes);
  reader.end();
  return quotes;
}

/** How many files show that months are not counted this way: by a date that does not exist, or by quotes on a Saturday. */
async function contradictions(
  sources: readonly Source[],
  january: Months,
  options: Options,
  signal: AbortSignal,
): Promise<number> {
  const starts = sources.map((source) => ({ source, startMs: startInPath(source.path, january) as number }));
  const impossible = starts.filter(({ startMs }) => Number.isNaN(startMs)).length;
  if (impossible > 0) return impossible;
  const saturdays = starts.filter(({ startMs, source }) => new Date(startMs).getUTCDay() === SATURDAY && source.sizeBytes > 0);
  let found = 0;
  for (const { source } of saturdays.slice(0, EXAMINED_MAX_COUNT)) {
    if (signal.aborted) break;
    // The import reports a file that cannot be read.
    if ((await outcomeOf(hasQuotes(source, options))) === true) found += 1;
  }
  return found;
}

/**
 * Finds how the months in the paths of .bi5 files are counted. Dukascopy counts from 0, some tools that save its files from 1.
 * @returns the number of January; null when there is no such file, or the files do not show it
 */
export async function surveyMonths(
  files: readonly string[],
  finder: Pick<SourceFinder, "sourcesOf">,
  options: Options,
  signal: AbortSignal,
): Promise<Months | null> {
  if (options.months !== null || options.dateMs !== null) return options.months;
  const sources: Source[] = [];
  for (const file of files.filter((name) => MAY_HOLD.test(name))) {
    const found = await outcomeOf(finder.sourcesOf(file));
    if (!(found instanceof Error)) sources.push(...found.sources.filter(({ path }) => startInPath(path, 0) !== null));
  }
  if (sources.length === 0) return null;
  const from0 = await contradictions(sources, 0, options, signal);
  const from1 = await contradictions(sources, 1, options, signal);
  if (from0 > 0 === from1 > 0) return null;
  return from0 > 0 ? 1 : 0;
}
