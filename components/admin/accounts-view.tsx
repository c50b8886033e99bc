"use client";

import Link from "next/link";
import { useSearchParams } from "next/navigation";
import { useState } from "react";
import type { AdminPlan, PortalAccount } from "#lib/contract/portal-admin";
import { queryOf } from "../portal/api";
import { usePages, usePortal } from "../portal/read";
import { Instant } from "../portal/time";
import { Badge } from "../ui/badge";
import { Button } from "../ui/button";
import { PageHead } from "../ui/card";
import { Older } from "../ui/older";
import { SearchField } from "../ui/search-field";
import { Checkbox } from "../ui/select";
import { type Column, Table } from "../ui/table";
import { liveText, readsText } from "./account-access";
import { AccountActions } from "./account-actions";
import { Address } from "./address";
import { CreateCustomer } from "./create-customer";
import { PlanChoice } from "./plan-choice";

interface ColumnParts {
  readonly plans: readonly AdminPlan[];
  readonly onChange: () => void;
}

function columns({ plans, onChange }: ColumnParts): readonly Column<PortalAccount>[] {
  return [
    {
      head: "Account",
      cell: ({ id, name, email, suspended_at, waiting_since, live_asked_at }) => (
        <>
          <Link prefetch={false} href={`/admin/accounts/${id}`} className="block font-medium text-accent hover:underline">
            <Address>{name}</Address>
          </Link>
          {suspended_at === null ? null : (
            <Badge tone="danger" title={`Since ${suspended_at}`}>
              Suspended
            </Badge>
          )}
          {waiting_since === null ? null : <Badge tone="warning">Waits for approval</Badge>}
          {live_asked_at === null ? null : <Badge tone="warning">Asks for live access</Badge>}
          {email === null || email === name ? null : (
            <span className="block text-ink-faint text-xs leading-5">
              <Address>{email}</Address>
            </span>
          )}
        </>
      ),
    },
    {
      head: "Plan",
      cell: (account) => <PlanChoice account={account} plans={plans} onChange={onChange} />,
    },
    { head: "Can read", from: "lg", cell: readsText },
    {
      head: "Live access",
      from: "sm",
      cell: liveText,
    },
    { head: "Members", from: "lg", numeric: true, cell: ({ members }) => members },
    { head: "Keys", from: "md", numeric: true, cell: ({ active_keys }) => active_keys },
    { head: "Since", from: "xl", cell: ({ created_at }) => <Instant at={created_at} to="day" /> },
    {
      head: <span className="sr-only">Actions</span>,
      cell: (account) => <AccountActions account={account} onChange={onChange} />,
    },
  ];
}

/** All accounts, with what an operator can change; `?waiting=true` and `?live=true` in the address of the page begin with those. */
export function AccountsView() {
  const [q, setQ] = useState("");
  const given = useSearchParams();
  const [live, setLive] = useState(given.get("live") === "true");
  const [waiting, setWaiting] = useState(given.get("waiting") === "true");
  const [creating, setCreating] = useState(false);
  const query = queryOf({ q, live: live ? "true" : "", waiting: waiting ? "true" : "" });
  const accounts = usePages<PortalAccount>("admin/accounts", query);
  const plans = usePortal<{ items: readonly AdminPlan[] }>("admin/plans").data?.items ?? [];
  return (
    <>
      <PageHead
        title="Accounts"
        action={
          <Button kind="primary" onClick={() => setCreating(true)}>
            Create customer
          </Button>
        }
      >
        Changes take effect within a second, including on open connections.
      </PageHead>
      <div className="mb-4 flex flex-wrap items-center gap-3">
        <SearchField label="Name or email" value={q} onSearch={setQ} className="w-full max-w-md" />
        <Checkbox label="With live access" checked={live} onChange={() => setLive(!live)} />
        <Checkbox label="Waiting for you" checked={waiting} onChange={() => setWaiting(!waiting)} />
      </div>
      <Table
        caption="Accounts"
        columns={columns({ plans, onChange: accounts.reload })}
        rows={accounts.items}
        rowKey={({ id }) => id}
        failure={accounts.failure}
        retry={accounts.reload}
        expected={8}
        empty={q === "" && !live && !waiting ? <p>No accounts yet.</p> : <p>No accounts match.</p>}
      />
      <Older busy={accounts.busy} more={accounts.more}>
        Older accounts
      </Older>
      {creating ? <CreateCustomer plans={plans} onClose={() => setCreating(false)} /> : null}
    </>
  );
}
