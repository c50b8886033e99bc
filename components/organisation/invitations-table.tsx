"use client";

import type { PortalInvitation } from "#lib/contract/organisation";
import { callPortal } from "../portal/api";
import { Instant } from "../portal/time";
import { Button } from "../ui/button";
import { Table } from "../ui/table";
import { useToast } from "../ui/toast";
import { roleText } from "./role-select";

interface InvitationsTableProps {
  readonly invitations: readonly PortalInvitation[];
  /** Where one is withdrawn, below /api/portal. */
  readonly path: string;
  readonly onChange: () => void;
}

/** The invitations that nobody has accepted yet. */
export function InvitationsTable({ invitations, path, onChange }: InvitationsTableProps) {
  const announce = useToast();
  const withdraw = async ({ id, email }: PortalInvitation) => {
    const result = await callPortal("DELETE", `${path}/${id}`);
    announce("failure" in result ? result.failure.detail : `The invitation of ${email} was withdrawn.`);
    onChange();
  };
  return (
    <Table
      caption="Invitations that wait"
      rows={invitations}
      rowKey={({ id }) => id}
      empty="No pending invitations."
      columns={[
        {
          head: "Email",
          grow: true,
          cell: ({ email, inviter, role }) => (
            <>
              <span className="block font-medium leading-5 [overflow-wrap:anywhere]">{email}</span>
              <span className="block text-ink-faint text-xs leading-5 [overflow-wrap:anywhere]">by {inviter}</span>
              <span className="block text-ink-faint text-xs leading-5 sm:hidden">{roleText(role)}</span>
            </>
          ),
        },
        { head: "Role", from: "sm", cell: ({ role }) => roleText(role) },
        { head: "Ends", from: "sm", cell: ({ expires_at }) => <Instant at={expires_at} to="day" /> },
        {
          head: <span className="sr-only">Actions</span>,
          cell: (invitation) => (
            <Button
              kind="ghost"
              aria-label={`Withdraw the invitation of ${invitation.email}`}
              onClick={() => withdraw(invitation)}
            >
              Withdraw
            </Button>
          ),
        },
      ]}
    />
  );
}
