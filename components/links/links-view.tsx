"use client";

import Link from "next/link";
import { type ComponentProps, useState } from "react";
import { LINKS_PER_ACCOUNT_MAX_COUNT } from "#lib/contract/limits";
import type { LinkInfo } from "#lib/contract/portal-links";
import { type ApiFailure, callPortal } from "../portal/api";
import type { OwnKey } from "../portal/credential";
import { usePortal } from "../portal/read";
import { Button } from "../ui/button";
import { PageHead } from "../ui/card";
import { ConfirmDialog } from "../ui/confirm-dialog";
import { FailureNotice } from "../ui/failure";
import { ActionMenu } from "../ui/menu";
import { type Column, Table } from "../ui/table";
import { useToast } from "../ui/toast";
import { CreateLink, type LinkParts } from "./create-link";
import { LinkAddress } from "./link-address";
import { LINK_COLUMNS } from "./link-text";

type Shown = Omit<ComponentProps<typeof LinkAddress>, "onClose">;

interface Actions {
  readonly show: (link: LinkInfo) => void;
  readonly revoke: (link: LinkInfo) => void;
}

const withActions = ({ show, revoke }: Actions): readonly Column<LinkInfo>[] => [
  ...LINK_COLUMNS,
  {
    head: <span className="sr-only">Actions</span>,
    cell: (link) => (
      <ActionMenu
        label={`Actions for ${link.name}`}
        items={[
          ...(link.state === "active" ? [{ label: "Show URL", onSelect: () => show(link) }] : []),
          { label: "Revoke", onSelect: () => revoke(link), danger: true },
        ]}
      />
    ),
  },
];

/** Says what to do first: a link needs a key that may read. */
function NoLinks({ hasKeys }: { hasKeys: boolean }) {
  return (
    <>
      <p className="font-medium text-ink">No links yet</p>
      <p className="mt-1">
        {hasKeys ? (
          "Create one, and put its URL into a spreadsheet."
        ) : (
          <>
            A link reads with one of your keys.{" "}
            <Link href="/dashboard/keys?new=1" className="text-accent underline">
              Create a key
            </Link>{" "}
            with the scope <code className="font-mono text-[13px]">market:read</code> first.
          </>
        )}
      </p>
    </>
  );
}

interface LinksViewProps extends Pick<LinkParts, "operations"> {
  /** The reader's valid keys with the scope market:read. */
  readonly keys: readonly OwnKey[];
  /** Whether the reader's role may make, open and revoke links. */
  readonly mayBuild: boolean;
}

/** The account's links, and all actions on them. */
export function LinksView({ operations, keys, mayBuild }: LinksViewProps) {
  const { data, error, mutate } = usePortal<{ items: readonly LinkInfo[] }>("links");
  const announce = useToast();
  const [creating, setCreating] = useState(false);
  const [shown, setShown] = useState<Shown>();
  const [revoking, setRevoking] = useState<LinkInfo>();
  const [failure, setFailure] = useState<ApiFailure>();
  const reload = () => void mutate();
  const [first, ...others] = keys;
  const full = (data?.items.length ?? 0) >= LINKS_PER_ACCOUNT_MAX_COUNT;

  async function show(link: LinkInfo): Promise<void> {
    const result = await callPortal<{ address: string }>("POST", `links/${link.id}/address`);
    setFailure("failure" in result ? result.failure : undefined);
    if ("data" in result) setShown({ link, address: result.data.address });
  }

  return (
    <>
      <PageHead
        title="Links"
        action={
          mayBuild ? (
            <Button kind="primary" disabled={first === undefined || data === undefined || full} onClick={() => setCreating(true)}>
              Create link
            </Button>
          ) : null
        }
      >
        A URL that returns one result, no key needed. For Google Sheets, Excel and other programs.{" "}
        <Link prefetch={false} href="/docs/spreadsheets" className="text-accent underline">
          How it works
        </Link>
        {full ? `. You have reached the limit of ${LINKS_PER_ACCOUNT_MAX_COUNT}.` : null}
      </PageHead>
      <FailureNotice failure={failure} />
      <Table
        caption="Your links"
        columns={mayBuild ? withActions({ show: (link) => void show(link), revoke: setRevoking }) : LINK_COLUMNS}
        rows={data?.items}
        rowKey={({ id }) => id}
        failure={error}
        retry={reload}
        empty={mayBuild ? <NoLinks hasKeys={first !== undefined} /> : <p>No links yet.</p>}
      />
      {creating && first !== undefined ? (
        <CreateLink operations={operations} keys={[first, ...others]} onMade={reload} onClose={() => setCreating(false)} />
      ) : null}
      {shown === undefined ? null : <LinkAddress {...shown} onClose={() => setShown(undefined)} />}
      {revoking === undefined ? null : (
        <ConfirmDialog
          title={`Revoke ${revoking.name}`}
          description="Its URL is refused within a second, in every file that has it. This cannot be undone."
          word={revoking.name}
          action="Revoke link"
          send={() => callPortal("DELETE", `links/${revoking.id}`)}
          onClose={() => setRevoking(undefined)}
          onDone={() => {
            setRevoking(undefined);
            reload();
            announce(`${revoking.name} was revoked.`);
          }}
        />
      )}
    </>
  );
}
