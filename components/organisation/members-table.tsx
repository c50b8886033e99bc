"use client";

import { type ReactNode, useState } from "react";
import type { PortalMember } from "#lib/contract/organisation";
import type { Role } from "#lib/contract/roles";
import { callPortal } from "../portal/api";
import { Instant } from "../portal/time";
import { useSubmit } from "../portal/use-submit";
import { Badge } from "../ui/badge";
import { AlertDialog, Dialog } from "../ui/dialog";
import { DialogSubmit } from "../ui/dialog-submit";
import { ActionMenu } from "../ui/menu";
import { Checkbox } from "../ui/select";
import { type Column, Table } from "../ui/table";
import { useToast } from "../ui/toast";
import { RoleSelect, roleText } from "./role-select";

interface MemberDialogProps {
  readonly member: PortalMember;
  readonly onClose: () => void;
  readonly onChange: () => void;
}

const pathOf = ({ id }: PortalMember) => `organisation/members/${id}`;

function ChangeRole({ member, onClose, onChange }: MemberDialogProps) {
  const announce = useToast();
  const [role, setRole] = useState<Role>(member.role);
  const { busy, failure, formProps } = useSubmit({
    fields: [],
    send: () => callPortal("PATCH", pathOf(member), { role }),
    done: () => {
      onClose();
      onChange();
      announce(`${member.email} is now ${roleText(role).toLowerCase()}.`);
    },
  });
  return (
    <Dialog open onOpenChange={onClose} title={`Role of ${member.email}`} description="It counts from their next request.">
      <form {...formProps} className="space-y-5">
        <RoleSelect role={role} onChange={setRole} />
        <DialogSubmit failure={failure} busy={busy} onCancel={onClose} disabled={role === member.role}>
          Change role
        </DialogSubmit>
      </form>
    </Dialog>
  );
}

function RemoveMember({ member, onClose, onChange }: MemberDialogProps) {
  const announce = useToast();
  const [revokes, setRevokes] = useState(false);
  const keys = member.active_keys;
  const { busy, failure, formProps } = useSubmit({
    fields: [],
    send: () => callPortal("DELETE", pathOf(member), { revoke_keys: revokes }),
    done: () => {
      onClose();
      onChange();
      announce(`${member.email} was removed.`);
    },
  });
  return (
    <AlertDialog
      open
      onOpenChange={onClose}
      title={`Remove ${member.email}`}
      description="They lose access at once, and streams of their playground end within a second."
    >
      <form {...formProps} className="space-y-5">
        {keys === 0 ? null : (
          <Checkbox
            label={`Also revoke ${keys === 1 ? "the key" : `the ${keys} keys`} that they made`}
            hint="They may know the text. Programs that use it stop working."
            checked={revokes}
            onChange={() => setRevokes(!revokes)}
          />
        )}
        <DialogSubmit failure={failure} busy={busy} onCancel={onClose} kind="danger">
          Remove member
        </DialogSubmit>
      </form>
    </AlertDialog>
  );
}

const DIALOGS = { role: ChangeRole, remove: RemoveMember } as const;

const COLUMNS: readonly Column<PortalMember>[] = [
  {
    head: "Member",
    grow: true,
    cell: ({ email, name }) => (
      <>
        <span className="block font-medium leading-5 [overflow-wrap:anywhere]">{email}</span>
        {name === "" ? null : <span className="block text-ink-faint text-xs leading-5 [overflow-wrap:anywhere]">{name}</span>}
      </>
    ),
  },
  { head: "Role", cell: ({ role }) => roleText(role) },
  {
    head: "Second factor",
    from: "md",
    cell: ({ second_factor }) => (second_factor ? "Yes" : <Badge tone="warning">None</Badge>),
  },
  { head: "Keys made", from: "md", numeric: true, cell: ({ active_keys }) => active_keys },
  {
    head: "Since",
    from: "sm",
    cell: ({ joined_at, terms }) => (
      <>
        <Instant at={joined_at} to="day" />
        {terms == null ? null : (
          <span className="block text-ink-faint text-xs leading-5">
            Terms {terms.version}, <Instant at={terms.at} />
          </span>
        )}
      </>
    ),
  },
];

interface MembersTableProps {
  readonly members: readonly PortalMember[] | undefined;
  /** What the reader can do with a member; nothing unless given. */
  readonly actions?: (member: PortalMember) => ReactNode;
}

/** The members of an organisation. */
export function MembersTable({ members, actions }: MembersTableProps) {
  const last = actions && { head: <span className="sr-only">Actions</span>, cell: actions };
  return (
    <Table
      caption="Members"
      rows={members}
      rowKey={({ id }) => id}
      expected={2}
      empty="No members yet. Invite the first owner."
      columns={last === undefined ? COLUMNS : [...COLUMNS, last]}
    />
  );
}

/** What an owner can do with a member, behind a button. */
export function MemberActions({ member, onChange }: { member: PortalMember; onChange: () => void }) {
  const [open, setOpen] = useState<keyof typeof DIALOGS>();
  const Open = open === undefined ? undefined : DIALOGS[open];
  return (
    <>
      <ActionMenu
        label={`Actions for ${member.email}`}
        items={[
          { label: "Change role", onSelect: () => setOpen("role") },
          { label: "Remove", danger: true, onSelect: () => setOpen("remove") },
        ]}
      />
      {Open === undefined ? null : <Open member={member} onClose={() => setOpen(undefined)} onChange={onChange} />}
    </>
  );
}
