"use client";

import { useState } from "react";
import useSWR from "swr";
import type { AdminCalendar, AdminOverride, CalendarPreview } from "#lib/contract/portal-admin";
import type { CalendarState } from "#lib/contract/status";
import { type ApiFailure, callPortal, dataOf } from "../portal/api";
import { countText } from "../portal/numbers";
import { READ_DEFAULTS, usePortal } from "../portal/read";
import { Instant, ZoneName } from "../portal/time";
import { Badge, type Tone } from "../ui/badge";
import { Button } from "../ui/button";
import { Card, PageHead } from "../ui/card";
import { FailureNotice } from "../ui/failure";
import { Skeleton } from "../ui/skeleton";
import { useToast } from "../ui/toast";
import { DefinitionDialog, previewOf } from "./definition-dialog";
import { OverrideDialog } from "./override-dialog";
import { WeekStrip } from "./week-strip";

const STATES: Record<CalendarState, { tone: Tone; label: string }> = {
  open: { tone: "positive", label: "Open" },
  closed: { tone: "neutral", label: "Closed" },
  unknown: { tone: "neutral", label: "Unknown" },
};

function NowBadge({ preview }: { preview: CalendarPreview | undefined }) {
  if (preview === undefined) return null;
  const { state, reason } = preview.now;
  return (
    <Badge tone={STATES[state].tone} title={(reason ?? state).replaceAll("_", " ")}>
      {STATES[state].label}
    </Badge>
  );
}

function NextChange({ preview }: { preview: CalendarPreview | undefined }) {
  if (preview === undefined) return null;
  const { state, next_open_at, next_close_at } = preview.now;
  const next = state === "open" ? next_close_at : next_open_at;
  if (next === null) return null;
  return (
    <>
      {" · "}
      {state === "open" ? "closes" : "opens"} <Instant at={next} />
    </>
  );
}

function Override({ override, onChange }: { override: AdminOverride; onChange: () => void }) {
  const announce = useToast();
  const [busy, setBusy] = useState(false);
  const [failure, setFailure] = useState<ApiFailure>();
  const lift = async () => {
    setBusy(true);
    const result = await callPortal("DELETE", `admin/overrides/${override.id}`);
    setBusy(false);
    if ("failure" in result) return setFailure(result.failure);
    onChange();
    announce("Override ended. Rules and holidays apply again.");
  };
  const { state, starts_at, ends_at, note } = override;
  return (
    <li className="border-line border-t px-4 py-3 first:border-t-0">
      <div className="flex flex-wrap items-center justify-between gap-x-4 gap-y-2">
        <div className="min-w-0 text-sm leading-6">
          <p>
            <span className="font-medium">{state === "open" ? "Open" : "Closed"} by override</span> from{" "}
            <Instant at={starts_at} />{" "}
            {ends_at === null ? (
              "until it is ended"
            ) : (
              <>
                until <Instant at={ends_at} />
              </>
            )}
          </p>
          {note === "" ? null : <p className="text-ink-soft [overflow-wrap:anywhere]">{note}</p>}
        </div>
        <Button busy={busy} onClick={lift}>
          End override
        </Button>
      </div>
      {failure === undefined ? null : <FailureNotice failure={failure} />}
    </li>
  );
}

type Open = AdminOverride["state"] | "definition";

function CalendarCard({ calendar, onChange }: { calendar: AdminCalendar; onChange: () => void }) {
  const { name, overrides, listings } = calendar;
  const {
    data: preview,
    error: failure,
    mutate: retry,
  } = useSWR<CalendarPreview, ApiFailure>(["preview", calendar], async () => dataOf(await previewOf(name, calendar.definition)), {
    ...READ_DEFAULTS,
    keepPreviousData: true,
  });
  const [open, setOpen] = useState<Open>();
  const close = () => setOpen(undefined);
  return (
    <section aria-label={name}>
      <Card className="space-y-4">
        <div className="flex flex-wrap items-start justify-between gap-4">
          <div className="min-w-0">
            <h2 className="flex flex-wrap items-center gap-3 font-medium">
              {name} <NowBadge preview={preview} />
            </h2>
            <p className="mt-1 text-ink-faint text-sm leading-6">
              {listings === 1 ? "1 instrument" : `${countText(listings)} instruments`}
              <NextChange preview={preview} />
            </p>
          </div>
          <div className="flex flex-wrap gap-2 max-sm:w-full max-sm:flex-nowrap max-sm:*:flex-1 max-sm:*:px-1">
            <Button onClick={() => setOpen("closed")}>Close now…</Button>
            <Button onClick={() => setOpen("open")}>Open now…</Button>
            <Button onClick={() => setOpen("definition")}>Edit…</Button>
          </div>
        </div>
        {overrides.length === 0 ? null : (
          <ul aria-label={`Overrides of ${name}`} className="rounded-md border border-warning/40">
            {overrides.map((override) => (
              <Override key={override.id} override={override} onChange={onChange} />
            ))}
          </ul>
        )}
        {failure === undefined ? <WeekStrip preview={preview} /> : <FailureNotice failure={failure} retry={() => void retry()} />}
      </Card>
      {open === "definition" ? <DefinitionDialog calendar={calendar} onClose={close} onChange={onChange} /> : null}
      {open === "open" || open === "closed" ? (
        <OverrideDialog name={name} state={open} onClose={close} onChange={onChange} />
      ) : null}
    </section>
  );
}

/** Calendars that no market needs: those of the sandbox and its test tickers. */
function Folded({ calendars, onChange }: { calendars: readonly AdminCalendar[]; onChange: () => void }) {
  if (calendars.length === 0) return null;
  return (
    <details>
      <summary className="cursor-pointer text-ink-soft text-sm leading-6 hover:text-ink">
        Of the sandbox alone: {calendars.map(({ name }) => name).join(", ")}
      </summary>
      <div className="mt-4 space-y-6">
        {calendars.map((calendar) => (
          <CalendarCard key={calendar.name} calendar={calendar} onChange={onChange} />
        ))}
      </div>
    </details>
  );
}

/** All calendars: their market hours in the next two weeks, and the overrides of operators. */
export function CalendarsView() {
  const { data, error, mutate } = usePortal<{ items: readonly AdminCalendar[] }>("admin/calendars");
  const reload = () => void mutate();
  return (
    <>
      <PageHead title="Calendars">
        Upcoming market hours, times in <ZoneName />. Hover over a bar for its times.
      </PageHead>
      {error === undefined ? null : <FailureNotice failure={error} retry={reload} />}
      {data === undefined && error === undefined ? <Skeleton className="h-64 w-full" /> : null}
      {data?.items.length === 0 ? (
        <p className="text-ink-soft text-sm">No calendars yet. They are created with the instruments.</p>
      ) : null}
      <div className="space-y-6">
        {data?.items
          .filter(({ sandbox }) => !sandbox)
          .map((calendar) => (
            <CalendarCard key={calendar.name} calendar={calendar} onChange={reload} />
          ))}
        <Folded calendars={data?.items.filter(({ sandbox }) => sandbox) ?? []} onChange={reload} />
      </div>
    </>
  );
}
