import Link from "next/link";
import type { ReactNode } from "react";
import { ERRORS, errorDocsPath, errorOfCode } from "#lib/contract/errors";
import type { UsageReport } from "#lib/contract/portal";
import { countText } from "../portal/numbers";
import { Skeleton } from "../ui/skeleton";

const SHOWN_MAX_COUNT = 5;

interface RecentErrorsProps {
  readonly report: UsageReport | undefined;
  /** The time of the report, as "in the last 24 hours". */
  readonly when: string;
  /** Leads from the number of requests with an error to those requests. */
  readonly toLog: (code: number, text: string) => ReactNode;
}

/** The most frequent errors of a report, each with its page in the docs and its lines in the log. */
export function RecentErrors({ report, when, toLog }: RecentErrorsProps) {
  if (report === undefined) return <Skeleton className="h-32 w-full" />;
  const errors = report.by.codes.filter(({ code }) => code !== 0).slice(0, SHOWN_MAX_COUNT);
  if (errors.length === 0)
    return (
      <p className="rounded-lg border border-line border-dashed p-4 text-ink-soft text-sm leading-6">
        {report.by.codes.length === 0 ? `No requests ${when}.` : `No errors ${when}.`}
      </p>
    );
  return (
    <ul className="divide-y divide-line rounded-lg border border-line bg-surface text-sm">
      {errors.map(({ code, calls }) => {
        const id = errorOfCode(code);
        return (
          <li key={code} className="flex items-baseline justify-between gap-x-4 px-4 py-2.5">
            <span className="min-w-0">
              {id === undefined ? (
                `Retired error ${code}`
              ) : (
                <Link prefetch={false} href={errorDocsPath(id)} className="hover:underline">
                  {ERRORS[id].title} <code className="ml-1 font-mono text-ink-faint text-xs">{code}</code>
                </Link>
              )}
            </span>
            <span className="shrink-0 tabular-nums">
              {toLog(code, calls === 1 ? "1 request" : `${countText(calls)} requests`)}
            </span>
          </li>
        );
      })}
    </ul>
  );
}
