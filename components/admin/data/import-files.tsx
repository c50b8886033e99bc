"use client";

import { type DragEvent, useId, useRef, useState } from "react";
import {
  UPLOAD_FILES_MAX_COUNT,
  UPLOAD_MAX_BYTES,
  UPLOAD_PART_MAX_BYTES,
  type UploadReport,
  type UploadRunForm,
} from "#lib/contract/portal-import";
import { SECOND_MS } from "#lib/units";
import { type ApiFailure, type ApiResult, callPortal, sendPart } from "../../portal/api";
import { countText, sizeText } from "../../portal/numbers";
import { OperatorDocsLink } from "../../portal/operator-docs";
import { polling } from "../../portal/polling";
import { usePortal } from "../../portal/read";
import { Button } from "../../ui/button";
import { Card, Section } from "../../ui/card";
import { FailureNotice } from "../../ui/failure";
import { TextField } from "../../ui/field";
import { Checkbox } from "../../ui/select";
import { ChangeImport, type ImportChange } from "../import-change";

const PATH = "admin/upload";
const POLL_MS = SECOND_MS;
/** Refusals of a part that pass. */
const BUSY: ReadonlySet<string> = new Set(["rate_limited", "service_unavailable"]);
const WAIT_MS = SECOND_MS;
const WAITS_MAX_COUNT = 60;

/** A bar with what it shows; without a share it only says that something happens. */
function Progress({ label, share }: { label: string; share: number | null }) {
  const id = useId();
  return (
    <div>
      <label htmlFor={id} className="mb-1 block text-sm">
        {label}
        {share === null ? "" : ` ${Math.floor(share * 100)}%`}
      </label>
      <progress id={id} className="h-2 w-full accent-accent" max={1} {...(share !== null && { value: share })} />
    </div>
  );
}

/** Why these files cannot be sent at all; undefined when they can. */
function refusalOf(files: readonly File[]): string | undefined {
  if (files.length > UPLOAD_FILES_MAX_COUNT)
    return `At most ${UPLOAD_FILES_MAX_COUNT} files at once. Put them into a .zip archive.`;
  const bytes = files.reduce((sum, { size }) => sum + size, 0);
  if (bytes > UPLOAD_MAX_BYTES)
    return `${sizeText(bytes)} are more than ${sizeText(UPLOAD_MAX_BYTES)}. Import such files with npm run import.`;
  const empty = files.find(({ size }) => size === 0);
  return empty && `${empty.name} is empty.`;
}

/** Sends a part, again while the service has no place for it, up to WAITS_MAX_COUNT times. */
async function sendPatiently(path: string, part: Blob, signal: AbortSignal): Promise<ApiResult<object>> {
  for (let waits = 0; ; waits += 1) {
    const result = await sendPart(path, part, signal);
    const isBusy = "failure" in result && BUSY.has(result.failure.id);
    if (!isBusy || signal.aborted || waits === WAITS_MAX_COUNT) return result;
    await new Promise((resolve) => setTimeout(resolve, WAIT_MS));
  }
}

/** Sends files in parts, one after the other. @param onSent gets the completed share */
async function sendFiles(
  files: readonly File[],
  signal: AbortSignal,
  onSent: (share: number) => void,
): Promise<ApiResult<object>> {
  const total = files.reduce((sum, { size }) => sum + size, 0);
  let sent = 0;
  for (const file of files)
    for (let offset = 0; offset < file.size; offset += UPLOAD_PART_MAX_BYTES) {
      const part = file.slice(offset, offset + UPLOAD_PART_MAX_BYTES);
      const result = await sendPatiently(`${PATH}/files/${encodeURIComponent(file.name)}?offset=${offset}`, part, signal);
      if ("failure" in result) return { failure: { ...result.failure, detail: `${file.name}: ${result.failure.detail}` } };
      sent += part.size;
      onSent(sent / total);
    }
  return { data: {} };
}

function Chooser({ onChoose }: { onChoose: (files: readonly File[]) => void }) {
  const [over, setOver] = useState(false);
  const input = useRef<HTMLInputElement>(null);
  const drop = (event: DragEvent) => {
    event.preventDefault();
    setOver(false);
    onChoose([...event.dataTransfer.files]);
  };
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: files can be dropped here; the button does the same for everybody else
    <div
      onDragOver={(event) => {
        event.preventDefault();
        setOver(true);
      }}
      onDragLeave={() => setOver(false)}
      onDrop={drop}
      className={`rounded-lg border border-dashed p-6 text-center text-sm leading-6 ${over ? "border-accent bg-sunken" : "border-edge"}`}
    >
      <p>
        Drop files of history here, or{" "}
        <Button className="mx-1" onClick={() => input.current?.click()}>
          Choose files
        </Button>
      </p>
      <p className="mt-1 text-ink-faint text-xs leading-5">
        Ticks or klines as CSV, Parquet, .bi5 or .hst, plain or in .gz, .zip or .tar. They are tried first; nothing is stored
        before you say so.
      </p>
      <input
        ref={input}
        type="file"
        multiple
        hidden
        aria-label="Files of history"
        onChange={({ target }) => {
          onChoose([...(target.files ?? [])]);
          target.value = "";
        }}
      />
    </div>
  );
}

/** What the importer says, as its command prints it. */
function Report({ report }: { report: UploadReport }) {
  if (report.lines.length === 0) return null;
  return (
    <figure>
      <figcaption className="mb-2 text-ink-faint text-sm">What the importer says</figcaption>
      <pre
        // biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls, also by the keyboard
        tabIndex={0}
        className="max-h-96 overflow-auto whitespace-pre-wrap break-words rounded-lg border border-line bg-sunken p-3 font-mono text-[13px] leading-6"
      >
        {report.lines.join("\n")}
        {report.more_lines === 0 ? null : `\n${countText(report.more_lines)} more lines`}
      </pre>
    </figure>
  );
}

const OUTCOMES = {
  tried: {
    well: "The trial went well. Nothing is stored yet.",
    doubtful: "Some files are doubtful, and are left out unless you accept that. Nothing is stored yet.",
    failed: "Some files cannot be imported. The others can. Nothing is stored yet.",
  },
  imported: {
    well: "Imported.",
    doubtful: "Imported, without the doubtful files.",
    failed: "Not all files were imported.",
  },
} as const;

/** How the files are imported; kept while a trial runs. */
interface Choices {
  readonly ticker: string;
  readonly accepts: boolean;
}
const NO_CHOICES: Choices = { ticker: "", accepts: false };

interface TriedProps {
  readonly report: UploadReport;
  readonly choices: Choices;
  readonly onChoose: (choices: Choices) => void;
  readonly onRun: (form: UploadRunForm) => void;
  readonly onEnd: () => void;
}

function Tried({ report, choices, onChoose, onRun, onEnd }: TriedProps) {
  const { ticker, accepts } = choices;
  const form = (dry_run: boolean): UploadRunForm => {
    const typed = ticker.trim().toUpperCase();
    return { dry_run, ticker: typed === "" ? null : typed, accept_doubts: accepts };
  };
  return (
    <>
      <div className="max-w-md">
        <TextField
          label="Instrument"
          name="ticker"
          value={ticker}
          onChange={(event) => onChoose({ ticker: event.target.value, accepts })}
          autoComplete="off"
          spellCheck={false}
          placeholder="EURUSD"
          hint="Only if the names of the files do not say it. It is then that of all files."
        />
      </div>
      {report.outcome === "doubtful" || accepts ? (
        <Checkbox
          label="Import doubtful files too"
          hint="The report says what is doubtful about each."
          checked={accepts}
          onChange={() => onChoose({ ticker, accepts: !accepts })}
        />
      ) : null}
      <div className="flex flex-wrap gap-2">
        <Button kind="primary" onClick={() => onRun(form(false))}>
          Import
        </Button>
        <Button onClick={() => onRun(form(true))}>Try again</Button>
        <Button kind="ghost" onClick={onEnd}>
          Discard the files
        </Button>
      </div>
    </>
  );
}

/** Imports files that are dropped here: sends them, tries them, imports them, and undoes that. @param onImported called when something was stored or undone */
export function ImportFiles({ onImported }: { onImported: () => void }) {
  const [running, setRunning] = useState(false);
  const { data, mutate } = usePortal<UploadReport>(PATH, {
    ...polling(running ? POLL_MS : 0),
    onSuccess: ({ state }) => {
      const runs = state === "trial" || state === "import";
      if (running && !runs && state === "imported") onImported();
      setRunning(runs);
    },
  });
  const [failure, setFailure] = useState<ApiFailure>();
  const [sent, setSent] = useState<number>();
  const [choices, setChoices] = useState(NO_CHOICES);
  /** The number of the import that was undone here. */
  const [undone, setUndone] = useState<number | null>(null);
  const sending = useRef<AbortController>(undefined);
  const status = useRef<HTMLDivElement>(null);
  const state = sent === undefined ? (data?.state ?? "none") : "open";
  const number = data?.number ?? null;
  const isUndone = number !== null && undone === number;

  async function take(work: Promise<ApiResult<UploadReport>>): Promise<boolean> {
    const result = await work;
    setFailure("failure" in result ? result.failure : undefined);
    if ("failure" in result) return false;
    await mutate(result.data, { revalidate: false });
    setRunning(result.data.state === "trial" || result.data.state === "import");
    // What was pressed is gone.
    status.current?.focus();
    return true;
  }
  const run = (form: UploadRunForm) => take(callPortal("POST", `${PATH}/run`, form));
  const end = () => {
    sending.current?.abort();
    setSent(undefined);
    setChoices(NO_CHOICES);
    return take(callPortal("DELETE", PATH));
  };
  const changed = async (change: ImportChange) => {
    setUndone(change === "undo" ? number : null);
    onImported();
  };

  async function choose(files: readonly File[]): Promise<void> {
    if (files.length === 0) return;
    const refusal = refusalOf(files);
    if (refusal !== undefined) {
      setFailure({ id: "invalid_parameter", detail: refusal, parameter: null, requestId: null });
      return;
    }
    if (!(await take(callPortal("POST", PATH)))) return;
    const stopping = new AbortController();
    const { signal } = stopping;
    sending.current = stopping;
    setSent(0);
    const result = await sendFiles(files, signal, setSent);
    if (signal.aborted) return;
    setSent(undefined);
    if ("data" in result) {
      await run({ dry_run: true, ticker: null, accept_doubts: false });
      return;
    }
    await callPortal("DELETE", PATH);
    await mutate();
    setFailure(result.failure);
  }

  return (
    <Section title="Import files" aside={<OperatorDocsLink href="/docs/self-hosting#import-history">Formats</OperatorDocsLink>}>
      <Card className="space-y-5">
        <div ref={status} tabIndex={-1} role="status" className="space-y-4 text-sm outline-none empty:hidden">
          {sent === undefined ? null : <Progress label="Sending" share={sent} />}
          {state === "trial" ? <Progress label="Trying" share={data?.share ?? null} /> : null}
          {state === "import" ? <Progress label="Importing" share={data?.share ?? null} /> : null}
          {(state === "tried" || state === "imported") && data?.outcome ? (
            <p>{isUndone ? "Undone." : OUTCOMES[state][data.outcome]}</p>
          ) : null}
        </div>
        <FailureNotice failure={failure} />
        {state === "none" ? <Chooser onChoose={(files) => void choose(files)} /> : null}
        {data === undefined || sent !== undefined ? null : <Report report={data} />}
        {state === "tried" && data !== undefined ? (
          <Tried
            report={data}
            choices={choices}
            onChoose={setChoices}
            onRun={(form) => void run(form)}
            onEnd={() => void end()}
          />
        ) : null}
        {state === "imported" ? (
          <div className="flex flex-wrap gap-2">
            {number === null ? null : (
              <ChangeImport
                number={number}
                change={isUndone ? "redo" : "undo"}
                onDone={changed}
                onRefused={(refusal) => setFailure(refusal?.failure)}
              />
            )}
            <Button kind="primary" onClick={() => void end()}>
              Done
            </Button>
          </div>
        ) : null}
        {state === "trial" || state === "import" || state === "open" ? (
          <Button onClick={() => void end()}>{state === "import" ? "Stop the import" : "Cancel"}</Button>
        ) : null}
      </Card>
    </Section>
  );
}
