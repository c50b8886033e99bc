import { UsageError } from "#server/cli/usage-error";
import { ImportFailure, Unsure } from "#server/import/failure";
import type { Source } from "#server/import/files/archives";
import { cellTexts } from "#server/import/rows/delimited";
import { linesIn } from "#server/import/rows/lines";
import { isColumnName, plainName, TIME_NAMES } from "#server/import/rows/row";
import { bi5Klines, bi5Ticks, dukascopyNode, jforex } from "./dukascopy";
import { type Format, type Given, type Head, type Recognition, separatorOf } from "./format";
import { histdata } from "./histdata";
import { lean } from "./lean";
import { hst, metaTrader5Export, metaTrader5Python } from "./metatrader";
import { plainCsv } from "./plain";
import { recordedTicks, spotwireCsv } from "./spotwire";
import { tradingView } from "./tradingview";
import { trueFx } from "./truefx";

const HEAD_LINES_COUNT = 12;
/** Characters of a header line that a message shows. */
const SHOWN_MAX_CHARACTERS = 200;
const FIRST_LINES_MAX_BYTES = 65_536;

/** Tried in this order: the specific formats before the general ones. */
export const FORMATS: readonly Format[] = [
  bi5Ticks,
  bi5Klines,
  lean,
  hst,
  ...histdata,
  trueFx,
  metaTrader5Export,
  metaTrader5Python,
  jforex,
  dukascopyNode,
  tradingView,
  spotwireCsv,
  recordedTicks,
  plainCsv,
];

/** The head that formats examine. */
export function headOf(source: Pick<Source, "path">, bytes: Buffer, given: Given): Head {
  const path = source.path.replaceAll("\\", "/");
  const fileName = (path.split("/").pop() ?? "").toLowerCase();
  const isText = !fileName.endsWith(".bi5") && !bytes.subarray(0, 1024).includes(0);
  const linesOf = (end: number) => (isText ? linesIn(bytes.subarray(0, end)) : []);
  return {
    path,
    fileName,
    lines: linesOf(FIRST_LINES_MAX_BYTES).slice(0, HEAD_LINES_COUNT),
    sizeBytes: bytes.length,
    given,
    everyLine: () => linesOf(bytes.length),
  };
}

/** Whether the first line is a row of prices in separate columns. */
function isUnnamedTable({ lines: [first = ""] }: Head): boolean {
  const cells = cellTexts(first, separatorOf(first));
  return cells.filter((cell) => /^\d+[.,]\d+$/.test(cell)).length >= 2;
}

/** Names the columns of a header line among which the time or the prices are missing. */
function refuseColumns({ lines: [first = ""] }: Head): void {
  const names = cellTexts(first, separatorOf(first));
  const known = names.map(plainName).filter(isColumnName);
  if (names.length < 2 || known.length === 0) return;
  const missing = known.some((name) => TIME_NAMES.includes(name)) ? "prices (bid and ask, or open to close)" : "time";
  throw new ImportFailure(
    `no column is named as its ${missing}: it has ${names.join(", ").slice(0, SHOWN_MAX_CHARACTERS)}. --columns can name them`,
  );
}

/** The format of a file, and how to read it. */
export interface Recognised {
  readonly format: Format;
  readonly recognition: Recognition;
}

/**
 * Detects the format of a file from its first lines and its name, or checks the requested one.
 * @throws ImportFailure when it is not a known format, or not the requested one.
 */
export function recognise(head: Head, wanted: string | null): Recognised {
  const { columns, dateOrder } = head.given;
  const named = columns === null ? wanted : plainCsv.id;
  const asked = named === null ? FORMATS : FORMATS.filter(({ id }) => id === named);
  if (asked.length === 0)
    throw new UsageError(`--format ${wanted}: not a format. Known formats: ${FORMATS.map(({ id }) => id).join(", ")}`);
  for (const format of asked) {
    const recognition = format.recognise(head);
    if (recognition === null) continue;
    const { dateStyle = dateOrder, roles = [] } = recognition.layout ?? {};
    const own = dateStyle === "compact" ? "ymd" : dateStyle;
    if (dateOrder !== null && own !== dateOrder && !roles.includes("epoch"))
      throw new ImportFailure(`--date-format ${dateOrder.toUpperCase()}: the dates of ${format.title} are ${own?.toUpperCase()}`);
    return { format, recognition };
  }
  if (head.sizeBytes === 0) throw new ImportFailure("the file is empty");
  const begin = head.lines[0] === undefined ? "binary data" : `a first line of "${head.lines[0].slice(0, 80)}"`;
  if (columns !== null)
    throw new ImportFailure(
      `it has ${begin}, and --columns ${columns.join(",")} names no time, or no bid and ask or open to close`,
    );
  if (wanted === null) refuseColumns(head);
  if (wanted === null && isUnnamedTable(head))
    throw new Unsure(
      `it has ${begin}, which does not name its columns. Name them from left to right, - for one to skip: ` +
        "--columns time,open,high,low,close,tick_volume",
    );
  throw new ImportFailure(
    wanted === null
      ? `not recognised: it has ${begin}. Known formats: ${FORMATS.map(({ id }) => id).join(", ")}. You can convert any file to the plain format`
      : `it has ${begin}, which is not ${asked[0]?.title} (--format ${wanted})`,
  );
}
