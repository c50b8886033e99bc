"use client";

import { type FormEvent, useState } from "react";
import type { AdminCalendar, CalendarPreview } from "#lib/contract/portal-admin";
import { type ApiFailure, type ApiResult, callPortal } from "../portal/api";
import { Button } from "../ui/button";
import { Dialog, DialogActions } from "../ui/dialog";
import { FailureNotice } from "../ui/failure";
import { TextArea } from "../ui/field";
import { useToast } from "../ui/toast";
import { WeekStrip } from "./week-strip";

interface DefinitionDialogProps {
  readonly calendar: AdminCalendar;
  readonly onClose: () => void;
  readonly onChange: () => void;
}

/** The result of checking a text: a preview of it, or the error. */
type Judged = { readonly text: string; readonly result: ApiResult<CalendarPreview> };

/** The next two weeks under a definition, with the calendar's current overrides. */
export function previewOf(name: string, definition: unknown): Promise<ApiResult<CalendarPreview>> {
  return callPortal<CalendarPreview>("POST", `admin/calendars/${encodeURIComponent(name)}/preview`, { definition });
}

/** Parses a definition from JSON; returns the browser's error message for invalid JSON. */
function parse(text: string): ApiResult<unknown> {
  try {
    return { data: JSON.parse(text) };
  } catch (error) {
    const detail = error instanceof Error ? error.message : "Not valid JSON.";
    return { failure: { id: "invalid_parameter", detail, parameter: "definition", requestId: null } };
  }
}

/** Changes a calendar's rules. Only a previewed definition can be saved. */
export function DefinitionDialog({ calendar, onClose, onChange }: DefinitionDialogProps) {
  const announce = useToast();
  const [text, setText] = useState(() => JSON.stringify(calendar.definition, null, 2));
  const [judged, setJudged] = useState<Judged>();
  const [unsaved, setUnsaved] = useState<ApiFailure>();
  const [busy, setBusy] = useState(false);
  const current = judged?.text === text ? judged.result : undefined;
  const preview = current !== undefined && "data" in current ? current.data : undefined;
  const failure = current !== undefined && "failure" in current ? current.failure : unsaved;
  const wrong = failure?.parameter === "definition" ? failure.detail : undefined;

  async function judge(): Promise<void> {
    const parsed = parse(text);
    setUnsaved(undefined);
    setBusy(true);
    setJudged({ text, result: "data" in parsed ? await previewOf(calendar.name, parsed.data) : parsed });
    setBusy(false);
  }

  async function save(event: FormEvent<HTMLFormElement>): Promise<void> {
    event.preventDefault();
    if (preview === undefined) return judge();
    setBusy(true);
    const result = await callPortal("PUT", `admin/calendars/${encodeURIComponent(calendar.name)}`, {
      definition: JSON.parse(text),
    });
    setBusy(false);
    if ("failure" in result) return setUnsaved(result.failure);
    onClose();
    onChange();
    announce(`${calendar.name} saved. Takes effect within a second.`);
  }

  return (
    <Dialog
      open
      wide
      onOpenChange={onClose}
      title={`Definition of ${calendar.name}`}
      description="Local times in the calendar's zone. Days start at 0 (Sunday). Preview, then save."
    >
      <form onSubmit={save} className="space-y-5">
        <TextArea
          label="Definition"
          name="definition"
          rows={14}
          spellCheck={false}
          value={text}
          onChange={(event) => setText(event.target.value)}
          error={wrong}
          className="font-mono text-[13px]!"
        />
        {failure === undefined || wrong !== undefined ? null : <FailureNotice failure={failure} />}
        {preview === undefined ? null : (
          <div>
            <p className="mb-2 font-medium text-sm">The next two weeks with this definition</p>
            <WeekStrip preview={preview} />
          </div>
        )}
        <DialogActions>
          <Button onClick={onClose}>Cancel</Button>
          <Button onClick={judge} busy={busy}>
            Preview
          </Button>
          <Button type="submit" kind="primary" busy={busy} disabled={preview === undefined}>
            Save
          </Button>
        </DialogActions>
      </form>
    </Dialog>
  );
}
