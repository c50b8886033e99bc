"use client";

import { useState } from "react";
import { browserName } from "#lib/browser-name";
import type { PortalSessionInfo } from "#lib/contract/portal";
import { type ApiFailure, callPortal } from "../portal/api";
import { leaveSignedOut } from "../portal/leave";
import type { Read } from "../portal/read";
import { signOut } from "../portal/sign-in";
import { Instant } from "../portal/time";
import { Badge } from "../ui/badge";
import { Button } from "../ui/button";
import { FailureNotice } from "../ui/failure";
import { Table } from "../ui/table";

/** The signed-in browsers; each of them, or all at once, can be signed out. */
export function Sessions({ sessions }: { sessions: Read<{ items: readonly PortalSessionInfo[] }> }) {
  const [busy, setBusy] = useState(false);
  const [failure, setFailure] = useState<ApiFailure>();
  const reload = () => void sessions.mutate();
  const end = async (path: string, done: () => void) => {
    setBusy(true);
    const result = await callPortal("DELETE", path);
    setBusy(false);
    setFailure("failure" in result ? result.failure : undefined);
    if ("data" in result) done();
  };
  const leave = async () => {
    const result = await signOut();
    if ("failure" in result) setFailure(result.failure);
  };
  return (
    <>
      <Table
        caption="Active sessions"
        rows={sessions.data?.items}
        rowKey={({ id }) => id}
        failure={sessions.error}
        retry={reload}
        empty="No active sessions."
        expected={1}
        columns={[
          {
            head: "Browser",
            grow: true,
            cell: ({ user_agent, current, last_seen_at }) => (
              <>
                <span title={user_agent} className="flex flex-wrap items-center gap-x-2 gap-y-1">
                  <span className="line-clamp-1 break-all">{browserName(user_agent) ?? (user_agent || "Unknown browser")}</span>
                  {current ? <Badge tone="positive">This browser</Badge> : null}
                </span>
                <span className="block text-ink-faint text-xs leading-5 sm:hidden">
                  <Instant at={last_seen_at} />
                </span>
              </>
            ),
          },
          {
            head: "Network",
            from: "sm",
            cell: ({ address }) => <span className="whitespace-nowrap font-mono text-[13px]">{address ?? "–"}</span>,
          },
          { head: "Signed in", from: "lg", cell: ({ created_at }) => <Instant at={created_at} /> },
          { head: "Last seen", from: "sm", cell: ({ last_seen_at }) => <Instant at={last_seen_at} /> },
          {
            head: <span className="sr-only">Actions</span>,
            cell: ({ id, current }) => (
              <Button busy={busy} onClick={() => (current ? leave() : end(`sessions/${id}`, reload))}>
                Sign out
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
      <Button busy={busy} className="mt-3" onClick={() => end("sessions", leaveSignedOut)}>
        Sign out everywhere
      </Button>
    </>
  );
}
