"use client";

import type { ReactNode } from "react";
import type { PortalKey, RequestLogEntry } from "#lib/contract/portal";
import { keyName } from "../keys/key-text";
import { countText, msText } from "../portal/numbers";
import { usePortal } from "../portal/read";
import { Instant } from "../portal/time";
import { Button, buttonClass } from "../ui/button";
import { CopyButton } from "../ui/copy-button";
import { Dialog, DialogActions } from "../ui/dialog";
import { FailureNotice } from "../ui/failure";
import { Prose } from "../ui/prose";
import { Skeleton } from "../ui/skeleton";
import { isBurstRefusal } from "./burst-refusal";
import { replayLink } from "./replay";

/** A request with an explanation of its error; null when it succeeded. */
interface LogDetail {
  readonly entry: RequestLogEntry;
  readonly explanation: {
    readonly title: string;
    readonly cause: string;
    readonly fix: string;
    readonly docs_url: string;
  } | null;
}

function Fact({ name, children }: { name: string; children: ReactNode }) {
  return (
    <>
      <dt className="text-ink-faint">{name}</dt>
      <dd className="min-w-0 font-mono text-[13px] [overflow-wrap:anywhere]">{children}</dd>
    </>
  );
}

function Explanation({
  explanation: { title, cause, fix },
  entry: { code, detail },
}: {
  explanation: NonNullable<LogDetail["explanation"]>;
  entry: RequestLogEntry;
}) {
  return (
    <section className="mb-5 rounded-lg border border-warning/40 p-4 text-sm leading-6">
      <h3 className="text-ink-faint text-xs leading-5">Why did this request fail?</h3>
      <p className="font-medium">
        {title} <code className="ml-1 font-mono text-ink-faint text-xs">{code}</code>
      </p>
      {detail === null || detail === title ? null : (
        <p className="mt-1 [overflow-wrap:anywhere]">
          <Prose text={detail} />
        </p>
      )}
      <p className="mt-1 text-ink-soft">
        <Prose text={cause} />
      </p>
      <p className="mt-2">
        <Prose text={fix} />
      </p>
    </section>
  );
}

/** What a request took of its limit, and what was left. */
function costText(entry: RequestLogEntry): string {
  const { cost, limit, remaining } = entry;
  if (cost === null || limit === null || remaining === null) return "not counted";
  const left = `${countText(cost)}, then ${countText(remaining)} of ${countText(limit)} left in the minute`;
  return isBurstRefusal(entry) ? `${left}: the burst limit refused it` : left;
}

function Facts({ entry, keys }: { entry: RequestLogEntry; keys: readonly PortalKey[] }) {
  return (
    <dl className="grid grid-cols-[6rem_minmax(0,1fr)] gap-x-4 gap-y-1.5 text-sm leading-6">
      <Fact name="Request">
        <span className="break-all">
          {entry.method} {entry.path}
        </span>
      </Fact>
      <Fact name="Time">
        <Instant at={entry.at} to="second" />
      </Fact>
      <Fact name="Status">{entry.status}</Fact>
      <Fact name="Key">{keyName(keys, entry.key_id)}</Fact>
      <Fact name="Operation">{entry.operation}</Fact>
      <Fact name="Cost">{costText(entry)}</Fact>
      <Fact name="Latency">{msText(entry.latency_ms)}</Fact>
      <Fact name="IP address">{entry.address}</Fact>
      <Fact name="Origin">{entry.origin ?? "–"}</Fact>
      <Fact name="User agent">{entry.user_agent || "–"}</Fact>
    </dl>
  );
}

interface LogDetailProps {
  readonly requestId: string;
  readonly keys: readonly PortalKey[];
  readonly onClose: () => void;
}

/** One request by its id, with advice on its error. */
export function LogDetailDialog({ requestId, keys, onClose }: LogDetailProps) {
  const { data, error, mutate } = usePortal<LogDetail>(`logs/${encodeURIComponent(requestId)}`);
  const replay = data === undefined ? undefined : replayLink(data.entry, keys);
  return (
    <Dialog
      open
      onOpenChange={onClose}
      wide
      title="Request"
      description={<code className="select-all font-mono text-xs [overflow-wrap:anywhere]">{requestId}</code>}
    >
      <FailureNotice failure={error} retry={() => void mutate()} />
      {data === undefined && error === undefined ? <Skeleton className="h-60 w-full" /> : null}
      {data === undefined ? null : (
        <>
          {data.explanation === null ? null : <Explanation explanation={data.explanation} entry={data.entry} />}
          <Facts entry={data.entry} keys={keys} />
        </>
      )}
      <DialogActions>
        <CopyButton text={requestId} label="Copy id" />
        <CopyButton text={async () => window.location.href} label="Copy link" />
        {replay === undefined ? null : (
          <a href={replay} target="_blank" rel="noreferrer" className={buttonClass("secondary")}>
            Replay in playground
          </a>
        )}
        <Button onClick={onClose}>Close</Button>
      </DialogActions>
    </Dialog>
  );
}
