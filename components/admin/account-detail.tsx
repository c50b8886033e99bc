"use client";

import Link from "next/link";
import { useState } from "react";
import type { PortalKey } from "#lib/contract/portal";
import type { AccountReport } from "#lib/contract/portal-activity";
import type { AdminPlan } from "#lib/contract/portal-admin";
import { RevokeKey } from "../keys/key-dialogs";
import { KeyMark, KeyState, keyName, LastUsed, VENUE_WORDS } from "../keys/key-text";
import { KeyUseBars } from "../keys/key-use";
import { LINK_COLUMNS } from "../links/link-text";
import { InvitationsTable } from "../organisation/invitations-table";
import { InviteDialog } from "../organisation/invite-dialog";
import { MembersTable } from "../organisation/members-table";
import { countText, shareText } from "../portal/numbers";
import { usePortal } from "../portal/read";
import { Instant } from "../portal/time";
import { Badge } from "../ui/badge";
import { Button } from "../ui/button";
import { Figure, Figures, PageHead, Section } from "../ui/card";
import { FailureNotice } from "../ui/failure";
import { ActionMenu } from "../ui/menu";
import { Skeleton } from "../ui/skeleton";
import { type Column, Table } from "../ui/table";
import type { Series } from "../usage/chart";
import { ChartCard } from "../usage/chart-card";
import { totals } from "../usage/usage-query";
import { liveText, readsText } from "./account-access";
import { AccountActions } from "./account-actions";
import { AccountErrors } from "./account-errors";
import { AskedLive } from "./account-live";
import { WaitingAccount } from "./account-waiting";
import { PlanChoice } from "./plan-choice";

const CALLS: readonly Series[] = [
  { field: "calls", label: "Requests", shape: "bar", tone: "accent" },
  { field: "errors", label: "Errors", shape: "bar", tone: "danger", part: true },
];

/** States in which a key works, or will. */
const REVOCABLE: ReadonlySet<PortalKey["state"]> = new Set(["active", "scheduled", "grace"]);

function keyColumns({ use, keys }: AccountReport, revoke: (key: PortalKey) => void): readonly Column<PortalKey>[] {
  return [
    {
      head: "Key",
      grow: true,
      cell: (key) => (
        <>
          <span className="line-clamp-2 font-medium leading-5 [overflow-wrap:anywhere]">{key.name}</span>
          <KeyMark apiKey={key} />
        </>
      ),
    },
    { head: "Venue", from: "sm", cell: ({ venue }) => VENUE_WORDS[venue] },
    {
      head: "Use",
      from: "md",
      cell: ({ id }) => <KeyUseBars calls={use.find(({ key_id }) => key_id === id)?.calls} />,
    },
    { head: "Last used", from: "lg", cell: (key) => <LastUsed apiKey={key} /> },
    { head: "State", cell: (key) => <KeyState apiKey={key} /> },
    {
      head: <span className="sr-only">Actions</span>,
      cell: (key) =>
        REVOCABLE.has(key.state) ? (
          <ActionMenu
            label={`Actions for ${keyName(keys, key.id)}`}
            items={[{ label: "Revoke", danger: true, onSelect: () => revoke(key) }]}
          />
        ) : (
          <span className="block size-8" />
        ),
    },
  ];
}

/** One account: its plan and permissions, which can be changed here, its calls of 30 days, its keys and its links. */
export function AccountDetail({ id }: { id: string }) {
  const [inviting, setInviting] = useState(false);
  const [revoking, setRevoking] = useState<PortalKey>();
  const { data, error, mutate } = usePortal<AccountReport>(`admin/accounts/${encodeURIComponent(id)}`);
  const plans = usePortal<{ items: readonly AdminPlan[] }>("admin/plans").data?.items ?? [];
  const reload = () => void mutate();
  const back = (
    <Link href="/admin/accounts" className="text-accent underline">
      All accounts
    </Link>
  );
  if (data === undefined)
    return (
      <>
        <PageHead title="Account">{back}</PageHead>
        {error === undefined ? <Skeleton className="h-96 w-full" /> : <FailureNotice failure={error} retry={reload} />}
      </>
    );
  const { account, members, invitations, keys, links, usage } = data;
  const { calls, errors, connections, messages } = totals(usage.items);
  return (
    <>
      <PageHead
        title={account.name}
        action={
          <div className="flex items-center gap-2">
            {account.suspended_at === null ? null : <Badge tone="danger">Suspended</Badge>}
            <span aria-hidden="true" className="text-ink-soft text-sm">
              Plan
            </span>
            <PlanChoice account={account} plans={plans} onChange={reload} />
            <AccountActions account={account} onChange={reload} />
          </div>
        }
      >
        {back}. Reads: {readsText(account)}. Live access: {liveText(account)}. Since <Instant at={account.created_at} to="day" />.
        {account.sign_in_domain === null ? null : ` Sign-in domain: ${account.sign_in_domain}.`}
      </PageHead>
      <WaitingAccount account={account} onChange={reload} />
      <AskedLive account={account} onChange={reload} />
      <Section title="Last 30 days">
        <Figures>
          <Figure label="Requests" value={countText(calls)} />
          <Figure label="Errors" value={countText(errors)} note={`${shareText(errors, calls)} of all requests`} />
          <Figure label="Stream connections" value={countText(connections)} />
          <Figure label="Stream messages" value={countText(messages)} />
        </Figures>
        <div className="mt-6">
          <ChartCard
            summary="Requests and errors per day over 30 days"
            points={usage.items}
            grain="day"
            series={CALLS}
            unit="count"
          />
        </div>
      </Section>
      <Section title="Errors">
        <AccountErrors accountId={account.id} report={usage} keys={keys} />
      </Section>
      <Section title="Members" aside={<Button onClick={() => setInviting(true)}>Invite</Button>}>
        <MembersTable members={members} />
      </Section>
      {invitations.length === 0 ? null : (
        <Section title="Invitations">
          <InvitationsTable invitations={invitations} path={`admin/accounts/${account.id}/invitations`} onChange={reload} />
        </Section>
      )}
      {inviting ? (
        <InviteDialog
          path={`admin/accounts/${account.id}/invitations`}
          organisation={account.name}
          firstRole={members.length === 0 ? "owner" : "developer"}
          onInvited={reload}
          onClose={() => setInviting(false)}
        />
      ) : null}
      <Section title="Keys">
        <Table
          caption="Keys of this account"
          columns={keyColumns(data, setRevoking)}
          rows={keys}
          rowKey={(key) => key.id}
          empty="No keys."
        />
      </Section>
      {revoking === undefined ? null : (
        <RevokeKey
          apiKey={revoking}
          keys={keys}
          path={`admin/accounts/${account.id}/keys`}
          onClose={() => setRevoking(undefined)}
          onChange={reload}
        />
      )}
      <Section title="Links">
        <Table caption="Links of this account" columns={LINK_COLUMNS} rows={links} rowKey={(link) => link.id} empty="No links." />
      </Section>
    </>
  );
}
