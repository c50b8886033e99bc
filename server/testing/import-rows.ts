import { HOUR_S } from "#lib/units";
import { asUtf8 } from "#server/import/files/text";
import { headOf, recognise } from "#server/import/formats/detect";
import type { FormatClock, Given } from "#server/import/formats/format";
import { AS_WRITTEN, emptyRow, type ReaderSettings, type Row, type RowKind } from "#server/import/rows/row";
import { volumeOf } from "#server/import/survey/decide";
import { type Sample, takeSample } from "#server/import/survey/identify";

/** The result of reading a file, with the file's own time zone unless the settings override it. */
interface ReadFile {
  readonly format: string;
  readonly kind: RowKind;
  readonly clock: FormatClock;
  readonly refusal: string | null;
  readonly sample: Sample;
  readonly rows: readonly Partial<Row>[];
  readonly malformed: readonly { line: number; reason: string }[];
  readonly withoutQuote: readonly number[];
}

interface ReadOptions extends Partial<ReaderSettings>, Partial<Given> {
  readonly format?: string;
  /** Bytes handed to the reader at once. */
  readonly chunkBytes?: number;
}

const NOTHING_GIVEN: Given = { dateMs: null, months: null, columns: null, kind: null, dateOrder: null };

/** Only the fields that the row contains. */
function stated(row: Row): Partial<Row> {
  return Object.fromEntries(Object.entries({ ...emptyRow(), ...row }).filter(([, value]) => !Number.isNaN(value)));
}

async function* pieces(content: Buffer, bytes: number): AsyncGenerator<Buffer> {
  for (let from = 0; from < content.length; from += bytes) yield content.subarray(from, from + bytes);
}

/** Detects the format of a file by path and content, and reads all of its rows. */
export async function readFile(path: string, content: string | Buffer, options: ReadOptions = {}): Promise<ReadFile> {
  const bytes = typeof content === "string" ? Buffer.from(content) : content;
  const chunks: Buffer[] = [];
  const source = pieces(bytes, options.chunkBytes ?? 65_536);
  for await (const chunk of path.endsWith(".bi5") ? source : asUtf8(source)) chunks.push(chunk);
  const text = Buffer.concat(chunks);
  const { format, recognition } = recognise(headOf({ path }, text, { ...NOTHING_GIVEN, ...options }), options.format ?? null);
  const rows: Partial<Row>[] = [];
  const malformed: { line: number; reason: string }[] = [];
  const withoutQuote: number[] = [];
  const sample = takeSample(recognition, text, true, null);
  const { is: volumeIs } = volumeOf(sample.values, null, sample.spacing.timeframe ?? "M1");
  const settings = { ...AS_WRITTEN, volumeIs, ...options };
  const reader = recognition.createReader(settings, {
    row: (row) => void rows.push(stated(row)),
    malformed: (line, reason) => void malformed.push({ line, reason }),
    withoutQuote: (line) => void withoutQuote.push(line),
  });
  for (const chunk of chunks) reader.push(chunk);
  reader.end();
  const { kind, clock, refusal } = recognition;
  return { format: format.id, kind, clock, refusal, sample, rows, malformed, withoutQuote };
}

/** Unix milliseconds of an ISO instant. */
export function at(instant: string): number {
  return Date.parse(instant);
}

/** Open times (Unix seconds) of `count` minutes from a day on, without the hours of a weekend in which every market is closed. */
export function openMinutes(day: string, count: number): number[] {
  const times: number[] = [];
  for (let time = at(day) / 1000; times.length < count; time += 60) {
    // Hours since Sunday 00:00 UTC; 1970-01-01 was a Thursday.
    const hour = Math.floor(time / HOUR_S + 4 * 24) % 168;
    if (hour >= 22 && hour < 5 * 24 + 21) times.push(time);
  }
  return times;
}
