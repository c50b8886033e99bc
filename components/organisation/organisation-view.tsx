"use client";

import { useState } from "react";
import type { PortalOrganisation } from "#lib/contract/organisation";
import type { PortalUser } from "#lib/contract/portal";
import { may, ROLE_WORDS } from "#lib/contract/roles";
import { Audit } from "../account/audit";
import { callPortal } from "../portal/api";
import { usePortal } from "../portal/read";
import { textOf, useSubmit } from "../portal/use-submit";
import { Button, buttonClass } from "../ui/button";
import { PageHead, Section } from "../ui/card";
import { ConfirmDialog } from "../ui/confirm-dialog";
import { FailureNotice } from "../ui/failure";
import { TextField } from "../ui/field";
import { Select } from "../ui/select";
import { useToast } from "../ui/toast";
import { AlertsForm } from "./alerts-form";
import { InvitationsTable } from "./invitations-table";
import { InviteDialog } from "./invite-dialog";
import { MemberActions, MembersTable } from "./members-table";
import { roleText } from "./role-select";

interface SettingsProps {
  readonly organisation: PortalOrganisation;
  readonly user: PortalUser;
  readonly onChange: () => void;
}

function NameForm({ organisation, onChange }: SettingsProps) {
  const announce = useToast();
  const { busy, errorOf, failure, formProps } = useSubmit({
    fields: ["name"],
    form: "organisation",
    send: (form) => callPortal("PATCH", "organisation", { name: textOf(form, "name") }),
    done: () => {
      onChange();
      announce("The name was changed.");
    },
  });
  return (
    <form {...formProps} className="flex max-w-md flex-wrap items-end gap-3">
      <div className="min-w-56 flex-1">
        <TextField label="Name" name="name" defaultValue={organisation.name} required error={errorOf("name")} />
      </div>
      <Button type="submit" busy={busy}>
        Save
      </Button>
      <FailureNotice failure={failure} />
    </form>
  );
}

function FactorForm({ organisation, user, onChange }: SettingsProps) {
  const announce = useToast();
  const required = organisation.require_second_factor;
  const without = organisation.members.filter(({ second_factor }) => !second_factor).length;
  const { busy, failure, formProps } = useSubmit({
    fields: [],
    send: () => callPortal("PATCH", "organisation", { require_second_factor: !required }),
    done: () => {
      onChange();
      announce(required ? "A second factor is no longer required." : "Members now need a second factor.");
    },
  });
  return (
    <form
      {...formProps}
      className="mt-6 flex flex-wrap items-center justify-between gap-4 rounded-lg border border-line bg-surface p-4 text-sm leading-6"
    >
      <p className="max-w-prose text-ink-soft">
        {required
          ? "Members need a passkey or an authenticator app to use this organisation."
          : "Require a passkey or an authenticator app of every member. Keys keep working."}{" "}
        {required || without === 0 ? null : `${without} of ${organisation.members.length} members have none yet.`}
        {required || user.secondFactor ? null : " Add one to your own account first."}
      </p>
      <Button type="submit" busy={busy} disabled={!required && !user.secondFactor}>
        {required ? "Stop requiring it" : "Require it"}
      </Button>
      <FailureNotice failure={failure} />
    </form>
  );
}

function OwnersAudit({ organisation }: { organisation: PortalOrganisation }) {
  const [member, setMember] = useState("");
  const options = [
    { value: "", label: "All members" },
    ...organisation.members.map(({ id, email }) => ({ value: id, label: email })),
  ];
  const query = member === "" ? "" : `?member=${member}`;
  return (
    <>
      <div className="mb-4 flex flex-wrap items-center gap-3">
        <Select aria-label="Member" options={options} value={member} onChange={setMember} className="w-auto! max-w-72" />
        <a href={`/api/portal/audit/export${query}`} download className={buttonClass("secondary")}>
          Download CSV
        </a>
      </div>
      <Audit key={member} query={query} />
    </>
  );
}

function LeaveButton({ user }: { user: PortalUser }) {
  const [open, setOpen] = useState(false);
  return (
    <>
      <Button kind="danger" onClick={() => setOpen(true)}>
        Leave organisation
      </Button>
      {open ? (
        <ConfirmDialog
          title={`Leave ${user.organisation}`}
          description="You lose access at once. Keys that you made keep working until somebody revokes them."
          word={user.email}
          action="Leave"
          send={() => callPortal("POST", "organisation/leave")}
          onDone={() => window.location.assign("/dashboard")}
          onClose={() => setOpen(false)}
        />
      ) : null}
    </>
  );
}

/** The organisation that the reader works in: members, invitations, settings, and who changed what. */
export function OrganisationView({ user }: { user: PortalUser }) {
  const { data, error, mutate } = usePortal<PortalOrganisation>("organisation");
  const [inviting, setInviting] = useState(false);
  const owns = may(user.role, "manage");
  // The header names the organisation, too.
  const reload = () => void mutate();
  return (
    <>
      <PageHead
        title="Organisation"
        action={
          owns ? (
            <Button kind="primary" disabled={data === undefined} onClick={() => setInviting(true)}>
              Invite
            </Button>
          ) : undefined
        }
      >
        <span className="[overflow-wrap:anywhere]">{data?.name ?? user.organisation}</span> owns the keys, links, webhooks and
        usage of its members. Your role: {roleText(user.role).toLowerCase()}. {ROLE_WORDS[user.role]}.
      </PageHead>
      <FailureNotice failure={error} retry={reload} />
      <Section title="Members">
        <MembersTable
          members={data?.members}
          {...(owns && { actions: (member) => <MemberActions member={member} onChange={reload} /> })}
        />
      </Section>
      {owns && data !== undefined ? (
        <>
          <Section title="Invitations">
            <InvitationsTable invitations={data.invitations} path="organisation/invitations" onChange={reload} />
          </Section>
          <Section title="Settings">
            <NameForm organisation={data} user={user} onChange={reload} />
            <FactorForm organisation={data} user={user} onChange={reload} />
          </Section>
          <Section title="Alerts">
            <AlertsForm organisation={data} onChange={reload} />
          </Section>
          <Section title="Activity">
            <OwnersAudit organisation={data} />
          </Section>
        </>
      ) : null}
      {(data?.members.length ?? 0) > 1 ? (
        <Section title="Leave">
          <LeaveButton user={user} />
        </Section>
      ) : null}
      {inviting && data !== undefined ? (
        <InviteDialog
          path="organisation/invitations"
          organisation={data.name}
          firstRole="developer"
          onInvited={reload}
          onClose={() => setInviting(false)}
        />
      ) : null}
    </>
  );
}
