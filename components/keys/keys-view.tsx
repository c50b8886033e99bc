"use client";

import { useState } from "react";
import type { PortalKey } from "#lib/contract/portal";
import { Instant } from "../portal/time";
import { usePortal } from "../portal/use-portal";
import { PageHead } from "../ui/card";
import { ActionMenu } from "../ui/menu";
import { type Column, Table } from "../ui/table";
import { CreateKey } from "./create-key";
import { EditKey, RevokeKey, RotateKey } from "./key-dialogs";
import { KeyMark, KeyState, LastUsed, VENUE_WORDS } from "./key-text";

const DIALOGS = { edit: EditKey, rotate: RotateKey, revoke: RevokeKey } as const;
type Action = { readonly kind: keyof typeof DIALOGS; readonly key: PortalKey };

const scopeWord = (scope: string) => scope.replace("market:", "");

function Origins({ origins }: { origins: readonly string[] }) {
  if (origins.length === 0) return <span className="text-ink-faint">Servers only</span>;
  return origins.map((origin) => (
    <code key={origin} title={origin} className="block max-w-44 truncate font-mono text-xs leading-5">
      {origin}
    </code>
  ));
}

/** What may still be done with a key in its state. */
function actionsOf(key: PortalKey, act: (action: Action) => void) {
  const item = (label: string, kind: Action["kind"]) => ({
    label,
    onSelect: () => act({ kind, key }),
    danger: kind === "revoke",
  });
  if (key.state === "active") return [item("Edit", "edit"), item("Rotate", "rotate"), item("Revoke", "revoke")];
  return key.state === "grace" ? [item("Revoke", "revoke")] : [];
}

function columns(act: (action: Action) => void): readonly Column<PortalKey>[] {
  return [
    {
      head: "Name",
      cell: (key) => (
        <>
          <span className="block font-medium [overflow-wrap:anywhere]">{key.name}</span>
          <KeyMark apiKey={key} />
        </>
      ),
    },
    {
      head: "Access",
      from: "sm",
      cell: ({ venue, scopes }) => (
        <>
          <span className="block">{VENUE_WORDS[venue]}</span>
          <span className="block whitespace-nowrap text-ink-faint text-xs">{scopes.map(scopeWord).join(", ")}</span>
        </>
      ),
    },
    { head: "Origins", from: "lg", cell: ({ origins }) => <Origins origins={origins} /> },
    { head: "Last used", from: "lg", cell: (key) => <LastUsed apiKey={key} /> },
    {
      head: "Expires",
      from: "md",
      cell: ({ expires_at }) =>
        expires_at === null ? <span className="text-ink-faint">Never</span> : <Instant at={expires_at} to="day" />,
    },
    { head: "State", cell: (key) => <KeyState apiKey={key} /> },
    {
      head: <span className="sr-only">Actions</span>,
      cell: (key) => {
        const items = actionsOf(key, act);
        return items.length === 0 ? (
          <span className="block size-8" />
        ) : (
          <ActionMenu label={`Actions of ${key.name}`} items={items} />
        );
      },
    },
  ];
}

/** One's keys and everything that can be done with them. */
export function KeysView({ initial }: { initial: { readonly items: readonly PortalKey[] } }) {
  const { data, failure, reload } = usePortal<{ items: readonly PortalKey[] }>("keys", initial);
  const [action, setAction] = useState<Action>();
  const Open = action === undefined ? undefined : DIALOGS[action.kind];
  return (
    <>
      <PageHead title="Keys" action={<CreateKey onChange={reload} />}>
        Each key belongs to one venue. All of them share your plan's limits.
      </PageHead>
      <Table
        caption="Your keys"
        columns={columns(setAction)}
        rows={data?.items}
        rowKey={({ id }) => id}
        failure={failure}
        retry={reload}
        empty={
          <>
            <p className="font-medium text-ink">No keys yet</p>
            <p className="mt-1">Create a test key: it gets synthetic prices at any hour, and a first answer takes a minute.</p>
          </>
        }
      />
      {action !== undefined && Open !== undefined ? (
        <Open apiKey={action.key} onClose={() => setAction(undefined)} onChange={reload} />
      ) : null}
    </>
  );
}
