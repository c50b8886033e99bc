"use client";

import { useState } from "react";
import type { PortalIdentity } from "#lib/contract/portal";
import { type ApiFailure, callPortal } from "../portal/api";
import { usePortal } from "../portal/read";
import { Instant } from "../portal/time";
import { Button } from "../ui/button";
import { FailureNotice } from "../ui/failure";
import { Table } from "../ui/table";

/** The providers that open this account; each can be unlinked. */
export function LinkedProviders() {
  const { data, error, mutate } = usePortal<{ items: readonly PortalIdentity[] }>("identities");
  const [busy, setBusy] = useState(false);
  const [failure, setFailure] = useState<ApiFailure>();
  const unlink = async (id: string) => {
    setBusy(true);
    const result = await callPortal("DELETE", `identities/${id}`);
    setBusy(false);
    setFailure("failure" in result ? result.failure : undefined);
    if ("data" in result) void mutate();
  };
  return (
    <>
      <Table
        caption="Linked sign-in providers"
        rows={data?.items}
        rowKey={({ id }) => id}
        failure={error}
        retry={() => void mutate()}
        empty="No provider is linked. You sign in with your password."
        expected={1}
        columns={[
          {
            head: "Provider",
            grow: true,
            cell: ({ provider, issuer }) => <span className="[overflow-wrap:anywhere]">{issuer || provider}</span>,
          },
          { head: "Linked", from: "sm", cell: ({ created_at }) => <Instant at={created_at} /> },
          {
            head: <span className="sr-only">Actions</span>,
            cell: ({ id }) => (
              <Button busy={busy} onClick={() => unlink(id)}>
                Unlink
              </Button>
            ),
          },
        ]}
      />
      {failure === undefined ? null : (
        <div className="mt-3">
          <FailureNotice failure={failure} />
        </div>
      )}
    </>
  );
}
