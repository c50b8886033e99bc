import { z } from "zod";
import { PARQUET_EXTENSION, PARQUET_MEDIA } from "#lib/contract/files";
import { FILE_ID_MAX_CHARACTERS, FILE_ROWS_PER_COST_UNIT } from "#lib/contract/limits";
import { operation } from "#lib/contract/operation";
import { COUNTED_ERRORS } from "#lib/contract/operation-errors";
import { choiceParameter } from "#lib/contract/primitives";
import { FILES_PATH } from "../files/declaration";

/** The format of a file in a query. */
const FileFormatParameter = choiceParameter(z.enum(["parquet", "csv"]).meta({ default: "parquet" }));

export const file = operation({
  id: "file",
  method: "GET",
  path: `${FILES_PATH}/{id}`,
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
      advanced: true,
    },
  },
  data: z.null(),
  example: null,
  file: {
    mediaType: PARQUET_MEDIA,
    description: "The file as Parquet, in the columns of the guide about files.",
    name: `EURUSD-M1-2026-10.${PARQUET_EXTENSION}`,
  },
  errors: ["invalid_parameter", "unknown_file", "not_in_plan", "range_not_satisfiable", ...COUNTED_ERRORS],
  cost: () => 1,
  mcp: { tool: false, because: "A file has more rows than a model can read." },
});
