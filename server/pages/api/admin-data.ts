import { CorrectionForm, DataMinutesQuery } from "#lib/contract/portal-corrections";
import {
  DataComparisonQuery,
  DataLayersQuery,
  DataPastQuery,
  DataSuspectsQuery,
  DataTickersQuery,
  DataYearsQuery,
} from "#lib/contract/portal-data";
import { UploadPartQuery, UploadRunForm } from "#lib/contract/portal-import";
import { historyAdmin, operatorOf } from "#server/pages/audit";
import { portalRoute } from "#server/pages/route";
import { audit } from "#server/store/access/audit";
import { redoImport, undoImport } from "#server/store/klines/import-undo";
import { correctMinutes } from "#server/store/klines/minute-corrections";

/** The number of an import in a path; 0, which no import has, for any other text. */
const importNumber = (text: string) => (/^[1-9]\d{0,8}$/.test(text) ? Number(text) : 0);

export const adminDataRoutes = [
  /** Lists the instruments with what is stored of each. */
  portalRoute("GET /admin/data", { input: DataTickersQuery, user: "operator" }, ({ input, running }) =>
    running.storedData.tickers(input),
  ),

  /** The range of a ticker's stored history, and its imports. */
  portalRoute("GET /admin/data/[ticker]", { user: "operator" }, ({ params, running }) =>
    running.storedData.ticker(params.ticker),
  ),

  /** The years of a ticker with their coverage and gaps, newest first. */
  portalRoute("GET /admin/data/[ticker]/years", { input: DataYearsQuery, user: "operator" }, ({ input, params, running }) =>
    running.storedData.years(params.ticker, input),
  ),

  /** What each layer said of a year. */
  portalRoute("GET /admin/data/[ticker]/layers", { input: DataLayersQuery, user: "operator" }, ({ input, params, running }) =>
    running.storedData.layers(params.ticker, input),
  ),

  /** Compares two sources of a ticker, year by year. */
  portalRoute(
    "GET /admin/data/[ticker]/comparison",
    { input: DataComparisonQuery, user: "operator" },
    ({ input, params, running }) => running.storedData.compare(params.ticker, input),
  ),

  /** A year as it showed at an instant. */
  portalRoute("GET /admin/data/[ticker]/past", { input: DataPastQuery, user: "operator" }, ({ input, params, running }) =>
    running.storedData.past(params.ticker, input),
  ),

  /** The suspicious places of a year of a ticker. */
  portalRoute("GET /admin/data/[ticker]/suspects", { input: DataSuspectsQuery, user: "operator" }, ({ input, params, running }) =>
    running.storedData.suspects(params.ticker, input),
  ),

  /** The stored minutes around an instant. */
  portalRoute("GET /admin/data/[ticker]/minutes", { input: DataMinutesQuery, user: "operator" }, ({ input, params, running }) =>
    running.storedData.minutes(params.ticker, input),
  ),

  /** Corrects a minute, or strikes minutes out. */
  portalRoute("POST /admin/data/[ticker]/minutes", { input: CorrectionForm, user: "operator" }, async (call) =>
    correctMinutes(historyAdmin(call), await call.running.storedData.listing(call.params.ticker), call.input),
  ),

  /** The files that the operator imports in the browser, and what the importer says of them. */
  portalRoute("GET /admin/upload", { user: "operator" }, ({ user, running }) => running.uploads.report(user.id)),

  /** Begins with no files. */
  portalRoute("POST /admin/upload", { user: "operator" }, ({ user, running }) => running.uploads.begin(user)),

  /** Adds a part to a file. Beginning needed a proof. */
  portalRoute(
    "PUT /admin/upload/files/[name]",
    { input: UploadPartQuery, user: "operator", raw: true, proof: false },
    ({ input, params, request, user, running }) => running.uploads.add(user.id, params.name, input.offset, request),
  ),

  /** Tries the files, or imports them. */
  portalRoute("POST /admin/upload/run", { input: UploadRunForm, user: "operator" }, async (call) => {
    const { input, user, running } = call;
    const report = running.uploads.run(user.id, input);
    const after = { files: report.files.map(({ name }) => name) };
    if (!input.dry_run)
      await audit(running.db.prisma, { ...operatorOf(call), accountId: null, action: "history.upload", target: "live", after });
    return report;
  }),

  /** Stops what runs, and deletes the files. */
  portalRoute("DELETE /admin/upload", { user: "operator", proof: false }, ({ user, running }) => running.uploads.end(user.id)),

  /** Undoes an import. */
  portalRoute("POST /admin/imports/[number]/undo", { user: "operator" }, async (call) => ({
    series: await undoImport(historyAdmin(call), importNumber(call.params.number)),
  })),

  /** Puts an import back that was undone. */
  portalRoute("POST /admin/imports/[number]/redo", { user: "operator" }, async (call) => ({
    series: await redoImport(historyAdmin(call), importNumber(call.params.number)),
  })),
];
