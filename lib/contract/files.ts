import { z } from "zod";
import {
  FILE_ID_MAX_CHARACTERS,
  FILE_ROWS_PER_COST_UNIT,
  FILES_MAX_COUNT,
  SANDBOX_FILES_DAYS_COUNT,
  SANDBOX_FILES_MONTHS_COUNT,
} from "./limits";
import { operation } from "./operation";
import { GUARD_ERRORS } from "./operation-errors";
import { Ticker, UnixSeconds, UnixSecondsParameter } from "./primitives";
import { orderIssue, ticker } from "./query";
import { mustBeOneOf, refuse } from "./validate";

/** What a file holds. */
export const FILE_TYPES = ["klines", "ticks"] as const;
export const FileType = z.enum(FILE_TYPES).meta({ id: "FileType", description: "What the rows of a file are." });
export type FileType = z.infer<typeof FileType>;

/** A type of files in a query. */
const FileTypeParameter = z
  .string()
  .transform((text, ctx) => {
    if ((FILE_TYPES as readonly string[]).includes(text)) return text as FileType;
    return refuse(ctx, { fault: "invalid_parameter", detail: mustBeOneOf(FILE_TYPES), allowed: FILE_TYPES });
  })
  .pipe(FileType);

const FORMATS = ["parquet", "csv"] as const;

/** The format of a file in a query. */
const FileFormatParameter = z
  .string()
  .transform((text, ctx) => {
    if ((FORMATS as readonly string[]).includes(text)) return text as (typeof FORMATS)[number];
    return refuse(ctx, { fault: "invalid_parameter", detail: mustBeOneOf(FORMATS), allowed: FORMATS });
  })
  .pipe(z.enum(FORMATS).meta({ default: "parquet" }));

export const PARQUET_MEDIA = "application/vnd.apache.parquet";
/** The end of the name of a file in Parquet. */
export const PARQUET_EXTENSION = "parquet";

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
    items: z.array(DataFile).describe("The files whose period touches the range, in ascending order."),
  })
  .meta({ id: "DataFileList", description: "Files in ascending order by period." });

export type DataFileList = z.infer<typeof DataFileList>;

const EXAMPLE_SHA256 = "9f2c4a1b7d3e58604c1f8a92be07d45613c8e0fa275b9d1146a3f7708cd25e9b";
const EXAMPLE_REVISION = EXAMPLE_SHA256.slice(0, 16);
const EXAMPLE_ID = `klines-EURUSD-2026-10-${EXAMPLE_REVISION}`;
const FILE_PATH = "/api/v1/market/files";

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
  url: `${FILE_PATH}/${EXAMPLE_ID}`,
};

export const files = operation({
  id: "files",
  method: "GET",
  path: FILE_PATH,
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
  },
  data: DataFileList,
  example: { next_from: null, items: [dataFileExample] },
  errors: ["invalid_parameter", "missing_parameter", "invalid_ticker", "invalid_range", "unknown_ticker", ...GUARD_ERRORS],
  cost: () => 1,
  check: ({ from, to }) => orderIssue(from, to),
});

export const file = operation({
  id: "file",
  method: "GET",
  path: `${FILE_PATH}/{id}`,
  scope: "market:read",
  summary: "File",
  description: `Downloads a file of the list, as Parquet or as CSV. Single ranges of the Parquet bytes can be requested with \`Range\`, so that tools read only the columns they need, and an interrupted download goes on. A file with a revision never changes: if its rows change, another file takes its place. Costs one rate-limit unit for each started ${FILE_ROWS_PER_COST_UNIT.toLocaleString("en-US")} rows, and a range its share, at least one.`,
  query: {
    id: {
      schema: z.string().max(FILE_ID_MAX_CHARACTERS),
      required: true,
      description:
        "The `id` of a file in the list. Without its last part, the revision, it names the file of the period as it is now.",
      example: "klines-EURUSD-2026-10",
    },
    format: {
      schema: FileFormatParameter,
      required: false,
      description:
        "`csv` for CSV with the columns of klines or of ticks, compressed if you accept that (default: Parquet, unless the `Accept` header prefers `text/csv`). Errors are always JSON.",
      example: "csv",
    },
  },
  data: z.null(),
  example: null,
  file: {
    mediaType: PARQUET_MEDIA,
    description: "The file as Parquet, in the columns of the guide about files.",
    name: `EURUSD-M1-2026-10.${PARQUET_EXTENSION}`,
  },
  errors: ["invalid_parameter", "unknown_file", "range_not_satisfiable", ...GUARD_ERRORS],
  cost: () => 1,
});
