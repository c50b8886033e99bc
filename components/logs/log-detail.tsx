"use client";

import type { ReactNode } from "react";
import type { RequestLogEntry } from "#lib/contract/portal";
import { msText } from "../portal/numbers";
import { Instant } from "../portal/time";
import { usePortal } from "../portal/use-portal";
import { CopyButton } from "../ui/copy-button";
import { Dialog } from "../ui/dialog";
import { FailureNotice } from "../ui/failure";
import { Skeleton } from "../ui/skeleton";

/** A request with why it was answered as it was; null where it went well. */
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
  code,
}: {
  explanation: NonNullable<LogDetail["explanation"]>;
  code: number;
}) {
  return (
    <section className="mb-5 rounded-lg border border-warning/40 p-4 text-sm leading-6">
      <h3 className="font-medium">
        Why was this refused? {title} <code className="font-mono text-ink-faint text-xs">{code}</code>
      </h3>
      <p className="mt-1 text-ink-soft">{cause}</p>
      <p className="mt-2">{fix}</p>
    </section>
  );
}

function Facts({ entry }: { entry: RequestLogEntry }) {
  return (
    <dl className="grid grid-cols-[6rem_minmax(0,1fr)] gap-x-4 gap-y-1.5 text-sm leading-6">
      <Fact name="Request">
        {entry.method} {entry.path}
      </Fact>
      <Fact name="Time">
        <Instant at={entry.at} to="second" />
      </Fact>
      <Fact name="Status">{entry.status}</Fact>
      <Fact name="Operation">{entry.operation}</Fact>
      <Fact name="Latency">{msText(entry.latency_ms)}</Fact>
      <Fact name="Address">{entry.address}</Fact>
      <Fact name="Origin">{entry.origin ?? "–"}</Fact>
      <Fact name="User agent">{entry.user_agent || "–"}</Fact>
    </dl>
  );
}

/** One request by its id, and what to do about it. */
export function LogDetailDialog({ requestId, onClose }: { requestId: string; onClose: () => void }) {
  const { data, failure, reload } = usePortal<LogDetail>(`logs/${encodeURIComponent(requestId)}`);
  return (
    <Dialog
      open
      onOpenChange={onClose}
      wide
      title="Request"
      description={<code className="select-all font-mono text-xs [overflow-wrap:anywhere]">{requestId}</code>}
    >
      {failure === undefined ? null : <FailureNotice failure={failure} retry={reload} />}
      {data === undefined && failure === undefined ? <Skeleton className="h-60 w-full" /> : null}
      {data === undefined ? null : (
        <>
          {data.explanation === null ? null : <Explanation explanation={data.explanation} code={data.entry.code} />}
          <Facts entry={data.entry} />
        </>
      )}
      <div className="mt-6 flex justify-end">
        <CopyButton text={requestId} label="Copy id" />
      </div>
    </Dialog>
  );
}
