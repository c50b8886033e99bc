import { z } from "zod";
import { FileType } from "#lib/contract/files";
import { FILES_MAX_COUNT, SANDBOX_FILES_DAYS_COUNT, SANDBOX_FILES_MONTHS_COUNT } from "#lib/contract/limits";
import { operation } from "#lib/contract/operation";
import { COUNTED_ERRORS } from "#lib/contract/operation-errors";
import {
  choiceParameter,
  PastSecondsParameter,
  PriceSide,
  PriceSideParameter,
  Ticker,
  UnixSeconds,
  UnixSecondsParameter,
} from "#lib/contract/primitives";
import { orderIssue, ticker } from "#lib/contract/query";

/** A type of files in a query. */
const FileTypeParameter = choiceParameter(FileType);

/** A file in the list of those of a ticker. */
export const DataFile = z
  .object({
    id: z.string().describe("Names the file in its download. It begins with the type, the ticker and the period."),
    type: FileType,
    ticker: Ticker,
    from: UnixSeconds.describe(
      "Start of the period of the file, inclusive. For M1 klines, a month in UTC; for ticks, a day in UTC.",
    ),
    to: UnixSeconds.describe("End of the period of the file, exclusive."),
    complete: z
      .boolean()
      .describe("Whether the period is over and all of it is stored for good. If not, the file can have more rows later."),
    rows: z.int().min(0).nullable().describe("Number of rows; null if the file is made when you download it."),
    bytes: z.int().min(0).nullable().describe("Size as Parquet; null if the file is made when you download it."),
    sha256: z
      .string()
      .nullable()
      .describe("SHA-256 of the bytes as Parquet, in hexadecimal; null if the file is made when you download it."),
    revision: z
      .string()
      .nullable()
      .describe("Changes whenever the file does; null if it is made when you download it. Opaque; compare it, do not read it."),
    url: z.string().describe("Path of the download."),
  })
  .meta({ id: "DataFile", description: "A file of the rows of one ticker and period." });
export type DataFile = z.infer<typeof DataFile>;

/** Data of the list of files. */
export const DataFileList = z
  .object({
    next_from: UnixSeconds.nullable().describe(
      `Start of the next file if the range has more than ${FILES_MAX_COUNT}; otherwise null.`,
    ),
    price: PriceSide.optional().describe("The `price` of the request. Absent if none was requested."),
    as_of: UnixSeconds.optional().describe("The instant in `as_of` of the request. Absent if none was requested."),
    items: z.array(DataFile).describe("The files whose period touches the range, in ascending order."),
  })
  .meta({ id: "DataFileList", description: "Files in ascending order by period." });

export type DataFileList = z.infer<typeof DataFileList>;

const EXAMPLE_SHA256 = "9f2c4a1b7d3e58604c1f8a92be07d45613c8e0fa275b9d1146a3f7708cd25e9b";
const EXAMPLE_REVISION = EXAMPLE_SHA256.slice(0, 16);
const EXAMPLE_ID = `klines-EURUSD-2026-10-${EXAMPLE_REVISION}`;
/** Where files are listed, and downloaded by their id. */
export const FILES_PATH = "/api/v1/market/files";

const dataFileExample: DataFile = {
  id: EXAMPLE_ID,
  type: "klines",
  ticker: "EURUSD",
  from: 1_790_812_800,
  to: 1_793_491_200,
  complete: true,
  rows: 44_640,
  bytes: 412_083,
  sha256: EXAMPLE_SHA256,
  revision: EXAMPLE_REVISION,
  url: `${FILES_PATH}/${EXAMPLE_ID}`,
};

export const files = operation({
  id: "files",
  method: "GET",
  path: FILES_PATH,
  scope: "market:read",
  summary: "Files",
  description: `Lists the files with the history of one ticker, for bulk download: M1 klines, one Parquet file for each calendar month in UTC, or ticks, one for each day in UTC. A list has at most ${FILES_MAX_COUNT} files. The sandbox has its last ${SANDBOX_FILES_MONTHS_COUNT} complete months of klines and its last ${SANDBOX_FILES_DAYS_COUNT} complete days of ticks.`,
  query: {
    ticker,
    type: {
      schema: FileTypeParameter,
      required: true,
      description: "What the rows are: `klines` for M1 klines, `ticks` for every quote that was taken or imported.",
      example: "klines",
    },
    from: {
      schema: UnixSecondsParameter,
      required: false,
      description: "Only files whose period ends after this time, in Unix seconds or in ISO 8601 with a UTC offset.",
      example: "1785542400",
    },
    to: {
      schema: UnixSecondsParameter,
      required: false,
      description: "Only files whose period begins before this time, in Unix seconds or in ISO 8601 with a UTC offset.",
      example: "1793491200",
    },
    price: {
      schema: PriceSideParameter,
      required: false,
      description:
        "Only with the type `klines`. `ask` or `mid`: the files have these prices in place of the bid, of the minutes that have them, as klines with the same `price`. By default, and with `bid`, files have the bid, and beside it the ask and mid prices that are known.",
      example: "ask",
      advanced: true,
    },
    as_of: {
      schema: PastSecondsParameter,
      required: false,
      description:
        "Only with the type `klines`. The files as they would have been at this instant, with the rows of klines with the same `as_of`. Unix seconds, or ISO 8601 with a UTC offset, of which a fraction of a second is dropped. Not in the future.",
      example: "1793491200",
      advanced: true,
    },
  },
  data: DataFileList,
  example: { next_from: null, items: [dataFileExample] },
  errors: [
    "invalid_parameter",
    "missing_parameter",
    "invalid_ticker",
    "invalid_range",
    "unknown_ticker",
    "not_in_plan",
    ...COUNTED_ERRORS,
  ],
  cost: () => 1,
  mcp: { tool: false, because: "It lists files for bulk downloads. An agent that reads klines asks for those it needs." },
  revalidated: true,
  check: ({ from, to, type, price, as_of }) => {
    const view = price === undefined ? (as_of === undefined ? undefined : "as_of") : "price";
    if (type === "klines" || view === undefined) return orderIssue(from, to);
    const detail =
      view === "price"
        ? "`price` is for klines: files of ticks have bid and ask."
        : "`as_of` is for klines: what ticks were known at an instant is not kept.";
    return { fault: "invalid_parameter", parameter: view, detail };
  },
});
