import type { Source } from "./decompress";
import { contentOf, headOf, recognise } from "./detect";
import { isFileError } from "./failure";
import { startInPath } from "./formats/bi5";
import type { Options } from "./options";
import { AS_WRITTEN } from "./row";
import type { SourceFinder } from "./sources";

/** Files whose rows are read, for each way to count. */
const EXAMINED_MAX_COUNT = 60;
const SATURDAY = 6;
/** Files that can hold .bi5 files. */
const MAY_HOLD = /\.(bi5|zip|gz|tgz|tar)$/i;

/** The number of January in the paths of .bi5 files. */
type Months = 0 | 1;

/** Whether a file has quotes; candles of closed hours have a volume of 0. */
async function hasQuotes(source: Source, options: Options): Promise<boolean> {
  const chunks: Buffer[] = [];
  for await (const chunk of contentOf(source)) chunks.push(Buffer.from(chunk));
  const bytes = Buffer.concat(chunks);
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
    try {
      if (await hasQuotes(source, options)) found += 1;
    } catch (error) {
      // The import reports it.
      if (!isFileError(error)) throw error;
    }
  }
  return found;
}

interface MonthsContext {
  readonly options: Options;
  readonly finder: Pick<SourceFinder, "sourcesOf">;
  readonly signal: AbortSignal;
}

/**
 * Finds how the months in the paths of .bi5 files are counted. Dukascopy counts from 0, some tools that save its files from 1.
 * @returns the number of January; null when there is no such file, or the files do not show it
 */
export async function surveyMonths(files: readonly string[], { options, finder, signal }: MonthsContext): Promise<Months | null> {
  if (options.months !== null || options.dateMs !== null) return options.months;
  const sources: Source[] = [];
  for (const file of files.filter((name) => MAY_HOLD.test(name))) {
    try {
      const found = await finder.sourcesOf(file);
      sources.push(...found.sources.filter(({ path }) => startInPath(path, 0) !== null));
    } catch (error) {
      if (!isFileError(error)) throw error;
    }
  }
  if (sources.length === 0) return null;
  const from0 = await contradictions(sources, 0, options, signal);
  const from1 = await contradictions(sources, 1, options, signal);
  if (from0 > 0 === from1 > 0) return null;
  return from0 > 0 ? 1 : 0;
}
