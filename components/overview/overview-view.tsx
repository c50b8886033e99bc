"use client";

import Link from "next/link";
import type { Overview, PortalKey } from "#lib/contract/portal";
import { countText, shareText } from "../portal/numbers";
import { usePortal } from "../portal/read";
import { Instant } from "../portal/time";
import { Figure, Figures, PageHead, Section } from "../ui/card";
import { FailureNotice } from "../ui/failure";
import type { Series } from "../usage/chart";
import { ChartCard } from "../usage/chart-card";
import { Checklist } from "./checklist";

const WEEK: readonly Series[] = [
  { field: "calls", label: "Calls", shape: "bar", tone: "accent" },
  { field: "errors", label: "Errors", shape: "bar", tone: "danger", part: true },
];

function Today({ overview }: { overview: Overview | undefined }) {
  const count = (value: number | undefined) => (value === undefined ? "–" : countText(value));
  const { today, limits } = overview ?? {};
  return (
    <Figures>
      <Figure label="Calls" value={count(today?.calls)} note="since 00:00 UTC" />
      <Figure
        label="Errors"
        value={count(today?.errors)}
        note={`${today === undefined ? "–" : shareText(today.errors, today.calls)} of all calls`}
      />
      <Figure
        label="Stream connections"
        value={count(today?.connections)}
        note={`opened today · up to ${count(limits?.stream_connections)} at once on plan ${limits?.plan ?? "–"}`}
      />
      <Figure
        label="REST limit"
        value={count(limits?.rest_per_minute)}
        note={`per minute, ${count(limits?.rest_remaining)} left now`}
      />
    </Figures>
  );
}

function Expiring({ keys }: { keys: readonly PortalKey[] }) {
  if (keys.length === 0) return null;
  return (
    <Section title="Keys expiring soon">
      <ul className="divide-y divide-line rounded-lg border border-warning/40 bg-surface text-sm">
        {keys.map(({ id, name, grace_until, expires_at }) => (
          <li key={id} className="flex flex-wrap items-baseline justify-between gap-x-4 px-4 py-2.5">
            <Link href="/dashboard/keys" className="font-medium [overflow-wrap:anywhere] hover:underline">
              {name}
            </Link>
            <span className="text-ink-soft">
              {grace_until === null ? "expires " : "grace period ends "}
              <Instant at={grace_until ?? expires_at} />
            </span>
          </li>
        ))}
      </ul>
    </Section>
  );
}

/** The account at a glance: first steps, today, the last week, and keys that expire soon. */
export function OverviewView({ name, initial }: { name: string; initial: Overview }) {
  const { data, error, mutate } = usePortal<Overview>("overview", { fallbackData: initial });
  return (
    <>
      <PageHead title="Overview">
        {name === "" ? "Your account at a glance." : `Hello, ${name}. Your account at a glance.`}
      </PageHead>
      {error === undefined ? (
        <>
          {data === undefined ? null : <Checklist state={data.checklist} />}
          <Section title="Today">
            <Today overview={data} />
          </Section>
          <Section
            title="Last 7 days"
            aside={
              <Link href="/dashboard/usage" className="text-accent underline">
                All usage
              </Link>
            }
          >
            <ChartCard
              summary="Calls and errors per day over the last seven days"
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
