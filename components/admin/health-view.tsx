"use client";

import Link from "next/link";
import { wordsOf } from "#lib/check-words";
import { type HealthReport, NODE_REPORT_INTERVAL_S, type NodeHealth } from "#lib/contract/portal-health";
import { agoText, durationText } from "#lib/duration";
import { SECOND_MS } from "#lib/units";
import { countText, msText, rateText, sizeText } from "../portal/numbers";
import { OperatorDocsLink } from "../portal/operator-docs";
import { polling } from "../portal/polling";
import { usePortal } from "../portal/read";
import { Instant } from "../portal/time";
import { Badge } from "../ui/badge";
import { Figure, Figures, PageHead, Section } from "../ui/card";
import { FailureNotice } from "../ui/failure";
import { Skeleton } from "../ui/skeleton";
import { type Column, Table } from "../ui/table";
import { HealthBanner } from "./health-banner";
import { checksOf, summaryOf, toneOf, wordOf } from "./health-checks";
import { NodesTable } from "./nodes-table";

const POLL_MS = 5 * SECOND_MS;

/** Which checks there are; the banner says what is wrong. */
function Checks({ checks }: { checks: ReturnType<typeof checksOf> }) {
  return (
    <ul className="divide-y divide-line rounded-lg border border-line bg-surface text-sm">
      {checks.map((check) => (
        <li key={check.name} className="flex items-center justify-between gap-4 px-4 py-2.5">
          {wordsOf(check.name).title}
          <Badge tone={toneOf(check)}>{wordOf(check)}</Badge>
        </li>
      ))}
    </ul>
  );
}

/** The sum over nodes of a rate; undefined while none has one. */
function sumOf(nodes: readonly NodeHealth[], of: (rates: NonNullable<NodeHealth["rates"]>) => number): number | undefined {
  const rates = nodes.flatMap((node) => node.rates ?? []);
  return rates.length === 0 ? undefined : rates.reduce((sum, each) => sum + of(each), 0);
}

function Load({ nodes }: { nodes: readonly NodeHealth[] }) {
  const connections = nodes.reduce((sum, node) => sum + node.connections, 0);
  const slowest = nodes.length === 0 ? null : Math.max(...nodes.map(({ loop_lag_ms }) => loop_lag_ms));
  return (
    <Figures>
      <Figure label="Requests per minute" value={rateText(sumOf(nodes, ({ calls }) => calls))} />
      <Figure
        label="Errors per minute"
        value={rateText(sumOf(nodes, ({ failed }) => failed))}
        note={`plus ${rateText(sumOf(nodes, ({ rejected }) => rejected))} client errors`}
      />
      <Figure
        label="Stream connections"
        value={countText(connections)}
        note={`${rateText(sumOf(nodes, ({ messages }) => messages))} messages per minute`}
      />
      <Figure label="Event loop" value={msText(slowest)} note="p99 delay, slowest node" />
    </Figures>
  );
}

type Venue = HealthReport["venues"][number];

function venueColumns(nodes: readonly NodeHealth[]): readonly Column<Venue>[] {
  return [
    {
      head: "Venue",
      grow: true,
      cell: ({ venue, provider }) => (
        <>
          <span className="font-medium">{venue}</span>
          <span className="block text-ink-faint text-xs leading-5">{provider ?? "No feed"}</span>
        </>
      ),
    },
    { head: "Ticks/min", numeric: true, cell: ({ venue }) => rateText(sumOf(nodes, ({ ticks }) => ticks[venue])) },
    { head: "Lag", numeric: true, cell: ({ lag_ms }) => (lag_ms === null ? "–" : durationText(lag_ms, 1)) },
    {
      head: "With ticks",
      numeric: true,
      cell: ({ live, tickers, not_offered }) => (
        <>
          {`${live} of ${tickers}`}
          {not_offered === 0 ? null : (
            <span className="block text-ink-faint text-xs leading-5">{countText(not_offered)} not offered</span>
          )}
        </>
      ),
    },
  ];
}

function Storage({ at_ms, database_bytes, backups: { last } }: HealthReport) {
  return (
    <Figures>
      <Figure label="Database" value={sizeText(database_bytes)} />
      <Figure
        label="Last backup"
        value={last === null ? "None" : `${agoText(at_ms - Date.parse(last.ended_at))} ago`}
        note={last === null ? undefined : <Instant at={last.ended_at} />}
      />
      <Figure
        label="Backup size"
        value={last?.bytes == null ? "–" : sizeText(last.bytes)}
        note={last?.rows == null ? undefined : `${countText(last.rows)} rows`}
      />
      <Figure
        label="Backup time"
        value={last === null ? "–" : durationText(Date.parse(last.ended_at) - Date.parse(last.started_at))}
      />
    </Figures>
  );
}

/** Leads to the accounts that wait for a decision, if any do. */
function Waiting({ accounts }: { accounts: number }) {
  if (accounts === 0) return null;
  return (
    <p className="mb-8 text-sm leading-6">
      <Link prefetch={false} href="/admin/accounts?waiting=true" className="text-accent underline">
        {accounts === 1 ? "1 account waits" : `${countText(accounts)} accounts wait`} for you
      </Link>
      , for approval or for live access.
    </p>
  );
}

/** What operators see first: whether all is well, how busy it is, and whether there is a backup. */
export function HealthView() {
  const { data: report, error, mutate } = usePortal<HealthReport>("admin/health", polling(POLL_MS));
  if (report === undefined)
    return (
      <>
        <PageHead title="Health">How this installation is now.</PageHead>
        {error === undefined ? (
          <Skeleton className="h-96 w-full" />
        ) : (
          <FailureNotice failure={error} retry={() => void mutate()} />
        )}
      </>
    );
  const checks = checksOf(report);
  const reporting = report.nodes.filter(({ silent }) => !silent);
  return (
    <>
      <PageHead title="Health">
        {summaryOf(checks)} Rates are those of the last {NODE_REPORT_INTERVAL_S} seconds, of all nodes together.
      </PageHead>
      <FailureNotice failure={error} retry={() => void mutate()} />
      <HealthBanner report={report} />
      <Waiting accounts={report.accounts_waiting} />
      <Section title="Load">
        <Load nodes={reporting} />
      </Section>
      <Section title="Nodes">
        <NodesTable nodes={report.nodes} atMs={report.at_ms} />
      </Section>
      <div className="mt-10 grid items-start gap-x-6 gap-y-10 lg:grid-cols-2">
        <Section title="Checks">
          <Checks checks={checks} />
        </Section>
        <div className="min-w-0">
          <Section
            title="Venues"
            aside={
              <Link href="/admin/feeds" className="text-accent underline">
                Feeds
              </Link>
            }
          >
            <Table
              caption="Venues"
              columns={venueColumns(reporting)}
              rows={report.venues}
              rowKey={({ venue }) => venue}
              empty={null}
            />
          </Section>
        </div>
      </div>
      <Section title="Database and backup" aside={<OperatorDocsLink href="/docs/self-hosting#backups">Backups</OperatorDocsLink>}>
        <Storage {...report} />
      </Section>
    </>
  );
}
