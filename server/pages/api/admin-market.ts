import { IncidentNoteForm } from "#lib/contract/incidents";
import { DefinitionForm, OverrideForm, PreviewForm } from "#lib/contract/portal-admin";
import { FeedCheckForm, FeedPinForm, RetireForm } from "#lib/contract/portal-feeds";
import type { HealthReport } from "#lib/contract/portal-health";
import { Fault } from "#lib/fault";
import { previewCalendar } from "#lib/market/calendar-preview";
import { DAY_MS, DAY_S } from "#lib/units";
import { installationAdmin } from "#server/pages/audit";
import { portalRoute } from "#server/pages/route";
import type { PortalRuntime } from "#server/pages/runtime";
import { lastBackups } from "#server/store/market/backup-runs";
import { addOverride, liftOverride, listCalendars, overridesOf, putDefinition } from "#server/store/market/calendar-admin";
import { setRetired } from "#server/store/market/catalogue-admin";
import { putPin } from "#server/store/market/feed-pin";
import { addNote, deleteNote, editNote, listNotes } from "#server/store/market/incident-notes";
import { listNodes } from "#server/store/market/node-reports";
import { warningsSince } from "#server/store/market/operator-warnings";
import { countWaiting } from "#server/store/users/account-admin";

const SIZE = "SELECT pg_database_size(current_database())::float8 AS bytes";

/** How the installation is: its nodes, venues, database and backups. */
async function healthOf({
  db,
  clock,
  env,
  reports,
}: Pick<PortalRuntime, "db" | "clock" | "env" | "reports">): Promise<HealthReport> {
  const nodes = await listNodes(db.pool);
  const [{ feeds }, { checked }, notes, since, accounts_waiting, size, backups] = await Promise.all([
    reports.feeds(),
    reports.status(),
    listNotes(db),
    warningsSince(db.pool, nodes),
    countWaiting({ db }),
    db.pool.query<{ bytes: number }>(SIZE),
    lastBackups(db.pool),
  ]);
  return {
    at_ms: clock.now(),
    nodes,
    venues: feeds.map(({ venue, provider, lag_ms, tickers, live, not_offered }) => {
      return { venue, provider, lag_ms, tickers, live, not_offered: not_offered.length };
    }),
    checked,
    notes,
    since,
    accounts_waiting,
    database_bytes: size.rows[0]?.bytes ?? 0,
    backups: { ...backups, max_age_s: env.BACKUP_MAX_AGE_DAYS * DAY_S },
  };
}

export const adminMarketRoutes = [
  /** How the installation is, as the node that answers sees it. */
  portalRoute("GET /admin/health", { user: "operator" }, ({ running }) => healthOf(running)),

  /** Reports the feeds of the node that answers. */
  portalRoute("GET /admin/feeds", { user: "operator" }, ({ running }) => running.reports.feeds()),

  /** Prefers one of several providers of the live venue, or none. */
  portalRoute("PUT /admin/feeds/pin", { input: FeedPinForm, user: "operator" }, async (call) => {
    await putPin(installationAdmin(call), call.running.env.LIVE_FEED, call.input.provider);
    return { provider: call.input.provider };
  }),

  /** Tries a provider with the settings that are sent. They are neither stored nor logged. */
  portalRoute("POST /admin/feeds/check", { input: FeedCheckForm, user: "operator" }, async ({ input, request, running }) => ({
    findings: await running.checkFeed(input, request.signal),
  })),

  /** Retires instruments of the live venue that its feed does not offer. */
  portalRoute("POST /admin/feeds/not-offered/retire", { input: RetireForm, user: "operator" }, async (call) => {
    const { tickers } = call.input;
    const { feeds } = await call.running.reports.feeds();
    const unoffered = feeds.find(({ venue }) => venue === "live")?.not_offered ?? [];
    const offered = tickers.filter((ticker) => !unoffered.includes(ticker));
    if (offered.length > 0)
      throw new Fault("invalid_parameter", {
        parameter: "tickers",
        detail: `Offered now, or not listed: ${offered.join(", ")}.`,
      });
    await setRetired(installationAdmin(call), "live", tickers, true);
    return { tickers };
  }),

  /** All calendars by name, with the overrides that have not ended. */
  portalRoute("GET /admin/calendars", { user: "operator" }, async ({ running }) => ({ items: await listCalendars(running) })),

  /** Replaces the definition of a calendar. */
  portalRoute("PUT /admin/calendars/[name]", { input: DefinitionForm, user: "operator" }, async (call) => {
    const { name } = call.params;
    const { after } = await putDefinition(installationAdmin(call), name, call.input.definition);
    return { name, definition: after };
  }),

  /** Forces a calendar open or closed. */
  portalRoute("POST /admin/calendars/[name]/overrides", { input: OverrideForm, user: "operator" }, async (call) => ({
    override: await addOverride(installationAdmin(call), call.params.name, call.input),
  })),

  /** Previews two weeks of a definition, the next or later ones, with the calendar's current overrides, before it is stored. */
  portalRoute(
    "POST /admin/calendars/[name]/preview",
    { input: PreviewForm, user: "operator", proof: false },
    async ({ input: { definition, from }, params, running }) => {
      const nowMs = running.clock.now();
      // A day covers what is over of the first one, in any time zone.
      const fromMs = from === undefined ? nowMs : Date.parse(from);
      return previewCalendar(definition, await overridesOf(running, params.name), nowMs, fromMs - DAY_MS, fromMs);
    },
  ),

  /** Ends an override now. */
  portalRoute("DELETE /admin/overrides/[id]", { user: "operator" }, async (call) => ({
    override: await liftOverride(installationAdmin(call), call.params.id),
  })),

  /** The newest notes of the status page. */
  portalRoute("GET /admin/incident-notes", { user: "operator" }, async ({ running }) => ({ items: await listNotes(running.db) })),

  /** Adds a note to the status page. */
  portalRoute("POST /admin/incident-notes", { input: IncidentNoteForm, user: "operator" }, async (call) => ({
    note: await addNote(installationAdmin(call), call.input),
  })),

  /** Changes a note. */
  portalRoute("PUT /admin/incident-notes/[id]", { input: IncidentNoteForm, user: "operator" }, async (call) => ({
    note: await editNote(installationAdmin(call), call.params.id, call.input),
  })),

  /** Deletes a note. */
  portalRoute("DELETE /admin/incident-notes/[id]", { user: "operator" }, async (call) => ({
    note: await deleteNote(installationAdmin(call), call.params.id),
  })),
];
