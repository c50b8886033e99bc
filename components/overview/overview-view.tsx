"use client";

import Link from "next/link";
import type { ReactNode } from "react";
import type { Overview, PortalKey, UsageReport } from "#lib/contract/portal";
import { SECOND_MS } from "#lib/units";
import { Checklist } from "../first-steps/checklist";
import { KeyMark } from "../keys/key-text";
import { countText, shareText } from "../portal/numbers";
import { usePortal } from "../portal/read";
import { Instant } from "../portal/time";
import { Figure, Figures, PageHead, Section } from "../ui/card";
import { FailureNotice } from "../ui/failure";
import type { Series } from "../usage/chart";
import { ChartCard } from "../usage/chart-card";
import { type UsageFilter, usageQuery } from "../usage/usage-query";
import { MonthQuota, Quota } from "./quota";
import { RecentErrors } from "./recent-errors";

/** The quota is read again so often. */
const QUOTA_MS = 10 * SECOND_MS;
const LAST_DAY: UsageFilter = { span: "24h", keyId: "", operation: "" };

const WEEK: readonly Series[] = [
  { field: "calls", label: "Requests", shape: "bar", tone: "accent" },
  { field: "errors", label: "Errors", shape: "bar", tone: "danger", part: true },
];

function Today({ overview }: { overview: Overview | undefined }) {
  const count = (value: number | undefined) => (value === undefined ? "–" : countText(value));
  const { today, limits, week } = overview ?? {};
  const begin = <Instant at={week?.at(-1)?.at ?? null} to="weekdayTime" />;
  return (
    <Figures>
      <Figure label="Requests" value={count(today?.calls)} note={<>since {begin}</>} />
      <Figure
        label="Errors"
        value={count(today?.errors)}
        note={today?.calls ? `${shareText(today.errors, today.calls)} of all requests` : "of all requests"}
      />
      <Figure label="Stream connections" value={count(today?.connections)} note={<>opened since {begin}</>} />
      <Figure
        label="Stream limit"
        value={count(limits?.stream_connections)}
        note={`connections at once on plan ${limits?.plan ?? "–"}`}
      />
    </Figures>
  );
}

function Expiring({ keys }: { keys: readonly PortalKey[] }) {
  if (keys.length === 0) return null;
  return (
    <Section title="Keys expiring soon">
      <ul className="divide-y divide-line rounded-lg border border-warning/40 bg-surface text-sm">
        {keys.map((key) => (
          <li key={key.id} className="flex flex-wrap items-baseline justify-between gap-x-4 px-4 py-2.5">
            <span>
              <Link href="/dashboard/keys" className="font-medium [overflow-wrap:anywhere] hover:underline">
                {key.name}
              </Link>{" "}
              <KeyMark apiKey={key} />
            </span>
            <span className="text-ink-soft">
              {key.grace_until === null ? "expires " : "grace period ends "}
              <Instant at={key.grace_until ?? key.expires_at} />
            </span>
          </li>
        ))}
      </ul>
    </Section>
  );
}

interface OverviewViewProps {
  readonly name: string;
  readonly initial: Overview;
  /** Whether the reader may make a key now, and is shown how. */
  readonly firstSteps: boolean;
  /** When the page was rendered, by the server's clock. */
  readonly openedMs: number;
  /** The market now, rendered by the server. */
  readonly board: ReactNode;
}

/** The account at a glance: first steps, today, its quota and errors, the market, the last week, and keys that expire soon. */
export function OverviewView({ name, initial, firstSteps, openedMs, board }: OverviewViewProps) {
  const { data, error, mutate } = usePortal<Overview>("overview", { fallbackData: initial, refreshInterval: QUOTA_MS });
  const { data: report } = usePortal<UsageReport>(`usage${usageQuery(LAST_DAY, openedMs)}`);
  return (
    <>
      <PageHead title="Overview">
        {name === "" ? "Your account at a glance." : `Hello, ${name}. Your account at a glance.`}
      </PageHead>
      {error === undefined ? (
        <>
          {firstSteps ? <Checklist initial={initial} /> : null}
          <Section title="Today">
            <Today overview={data} />
          </Section>
          <div className="mt-10 grid items-start gap-x-6 gap-y-10 lg:grid-cols-2">
            <div className="min-w-0 space-y-10">
              <Section title="Quota now">{data === undefined ? null : <Quota limits={data.limits} />}</Section>
              <Section
                title="Quota this month"
                aside={
                  <Link href="/dashboard/usage?range=30d" className="text-accent underline">
                    By key and operation
                  </Link>
                }
              >
                {data === undefined ? null : <MonthQuota month={data.month} />}
              </Section>
              <Section title="Errors, last 24 hours">
                <RecentErrors
                  report={report}
                  when="in the last 24 hours"
                  toLog={(code, text) => (
                    <Link prefetch={false} href={`/dashboard/logs?status=${code}`} className="text-accent hover:underline">
                      {text}
                    </Link>
                  )}
                />
              </Section>
            </div>
            {/* A group of its own, so that it begins level with the other. */}
            <div className="min-w-0">
              <Section
                title="Market now"
                aside={
                  <Link href="/playground" className="text-accent underline">
                    Playground
                  </Link>
                }
              >
                {board}
              </Section>
            </div>
          </div>
          <Section
            title="Last 7 days"
            aside={
              <Link href="/dashboard/usage" className="text-accent underline">
                All usage
              </Link>
            }
          >
            <ChartCard
              summary="Requests and errors per day over the last seven days"
              points={data?.week}
              grain="day"
              series={WEEK}
              unit="count"
            />
          </Section>
          <Expiring keys={data?.expiring ?? []} />
        </>
      ) : (
        <FailureNotice failure={error} retry={() => void mutate()} />
      )}
    </>
  );
}
