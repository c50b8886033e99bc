"use client";

import { useRef, useState } from "react";
import type { CalendarDefinitionSchema } from "#lib/contract/calendar";
import { type AdminCalendar, type CalendarPreview, PREVIEW_DAYS } from "#lib/contract/portal-admin";
import { DAY_MS } from "#lib/units";
import { type ApiFailure, type ApiResult, callPortal } from "../portal/api";
import { Changes } from "../portal/changes";
import { changesOf } from "../portal/diff";
import { Button } from "../ui/button";
import { Dialog, DialogActions } from "../ui/dialog";
import { FailureNotice } from "../ui/failure";
import { useToast } from "../ui/toast";
import { DefinitionForm } from "./calendar/definition-form";
import { useDraft } from "./calendar/draft";
import { firstChangedDate, readableOf } from "./calendar/exceptions";
import { WeekStrip } from "./week-strip";

const SHOWN_CHANGES_COUNT = 20;
/** Days shown before a changed date. */
const DAYS_BEFORE = 3;

/** Two weeks under a definition with the calendar's current overrides, from a date on, today by default. */
export function previewOf(name: string, definition: unknown, from?: string): Promise<ApiResult<CalendarPreview>> {
  return callPortal<CalendarPreview>("POST", `admin/calendars/${encodeURIComponent(name)}/preview`, { definition, from });
}

/** The first day to show: the week of the first changed date, where the next two weeks do not reach it. */
function shownFrom(before: CalendarDefinitionSchema, after: CalendarDefinitionSchema): string | undefined {
  const dayOf = (ms: number) => new Date(ms).toISOString().slice(0, "YYYY-MM-DD".length);
  const changed = firstChangedDate(before, after, dayOf(Date.now()));
  if (changed === undefined || changed < dayOf(Date.now() + (PREVIEW_DAYS - 1) * DAY_MS)) return undefined;
  return dayOf(Date.parse(changed) - DAYS_BEFORE * DAY_MS);
}

interface ReviewProps {
  readonly calendar: AdminCalendar;
  readonly definition: CalendarDefinitionSchema;
  readonly preview: CalendarPreview;
  /** The first day of the preview, where it is not today. */
  readonly from: string | undefined;
  readonly onBack: () => void;
  readonly onSaved: () => void;
}

/** What a definition changes, and two weeks with it; saves it. */
function Review({ calendar, definition, preview, from, onBack, onSaved }: ReviewProps) {
  const [failure, setFailure] = useState<ApiFailure>();
  const [busy, setBusy] = useState(false);
  const [before, after] = [readableOf(calendar.definition), readableOf(definition)];
  const unchanged = changesOf(before, after).length === 0;

  async function save(): Promise<void> {
    setBusy(true);
    setFailure(undefined);
    const result = await callPortal("PUT", `admin/calendars/${encodeURIComponent(calendar.name)}`, { definition });
    setBusy(false);
    if ("failure" in result) setFailure(result.failure);
    else onSaved();
  }

  return (
    <div className="space-y-6">
      <section>
        <h3 className="mb-2 font-medium">Changes</h3>
        {unchanged ? (
          <p className="text-ink-soft text-sm">Nothing changes.</p>
        ) : (
          <Changes before={before} after={after} shown={SHOWN_CHANGES_COUNT} />
        )}
      </section>
      <section>
        <h3 className="mb-2 font-medium">{from === undefined ? "The next two weeks" : `Two weeks from ${from}`}</h3>
        <WeekStrip preview={preview} from={from} />
      </section>
      <FailureNotice failure={failure} />
      <DialogActions>
        <Button onClick={onBack}>Back</Button>
        <Button kind="primary" busy={busy} disabled={unchanged} onClick={save}>
          Save
        </Button>
      </DialogActions>
    </div>
  );
}

interface DefinitionDialogProps {
  readonly calendar: AdminCalendar;
  readonly onClose: () => void;
  readonly onChange: () => void;
}

/** Edits a calendar's hours in a form. They can be saved once their changes and the next two weeks are shown. */
export function DefinitionDialog({ calendar, onClose, onChange }: DefinitionDialogProps) {
  const announce = useToast();
  const form = useRef<HTMLDivElement>(null);
  // The definition when the dialog opened: the list refreshes in the meantime and then holds a new object.
  const [initial] = useState(calendar.definition);
  const draft = useDraft(initial);
  const { definition } = draft;
  const from = shownFrom(calendar.definition, definition);
  const [preview, setPreview] = useState<CalendarPreview>();
  const [failure, setFailure] = useState<ApiFailure>();
  const [busy, setBusy] = useState(false);
  const problem = draft.jsonProblem ?? draft.issues.first;

  async function review(): Promise<void> {
    if (problem !== undefined) return form.current?.querySelector<HTMLElement>("[aria-invalid]")?.focus();
    setBusy(true);
    const result = await previewOf(calendar.name, definition, from);
    setBusy(false);
    setFailure("failure" in result ? result.failure : undefined);
    if ("data" in result) setPreview(result.data);
  }

  return (
    <Dialog
      open
      widest
      sticky={definition !== initial}
      onOpenChange={onClose}
      title={preview === undefined ? `Hours of ${calendar.name}` : `Review the changes of ${calendar.name}`}
      description={
        preview === undefined
          ? "Sessions, holidays and other hours. You review the changes before they are saved."
          : "They take effect within a second of saving."
      }
    >
      {preview === undefined ? (
        <div ref={form}>
          <DefinitionForm draft={draft} />
          <FailureNotice failure={failure} />
          <p role="status" className="mt-6 text-right text-danger text-sm leading-6 empty:hidden [overflow-wrap:anywhere]">
            {problem}
          </p>
          <DialogActions>
            <Button onClick={onClose}>Cancel</Button>
            <Button kind="primary" busy={busy} onClick={review}>
              Review changes
            </Button>
          </DialogActions>
        </div>
      ) : (
        <Review
          calendar={calendar}
          definition={definition}
          preview={preview}
          from={from}
          onBack={() => setPreview(undefined)}
          onSaved={() => {
            onClose();
            onChange();
            announce(`${calendar.name} saved. Takes effect within a second.`);
          }}
        />
      )}
    </Dialog>
  );
}
