"use client";

import { useState } from "react";
import { type AdminPlan, PLAN_NAME_MAX_CHARACTERS, type PlanForm } from "#lib/contract/portal-admin";
import { callPortal } from "../portal/api";
import { countText } from "../portal/numbers";
import { usePortal } from "../portal/read";
import { textOf, useSubmit } from "../portal/use-submit";
import { Button } from "../ui/button";
import { PageHead } from "../ui/card";
import { Dialog } from "../ui/dialog";
import { DialogSubmit } from "../ui/dialog-submit";
import { TextField } from "../ui/field";
import { Checkbox } from "../ui/select";
import { type Column, Table } from "../ui/table";
import { useToast } from "../ui/toast";

const LIMITS = [
  {
    field: "rest_per_minute",
    label: "REST calls per minute",
    hint: "Sustained rate.",
    start: 120,
  },
  { field: "rest_burst", label: "REST burst", hint: "Calls allowed at once when idle.", start: 20 },
  { field: "stream_connections", label: "Stream connections", hint: "Open at the same time.", start: 2 },
  {
    field: "subscriptions_per_connection",
    label: "Subscriptions per connection",
    hint: "Each ticker on a stream counts as one.",
    start: 50,
  },
] as const satisfies readonly { field: Exclude<keyof PlanForm, "live_access">; label: string; hint: string; start: number }[];

const LIVE = "live_access";
const planOf = (form: FormData) => ({
  ...Object.fromEntries(LIMITS.map(({ field }) => [field, Number(textOf(form, field))])),
  [LIVE]: form.has(LIVE),
});

interface PlanDialogProps {
  /** The plan to change; undefined creates one. */
  readonly plan: AdminPlan | undefined;
  /** Names that are already used. */
  readonly names: readonly string[];
  readonly onClose: () => void;
  readonly onChange: () => void;
}

const TAKEN = {
  id: "invalid_parameter",
  detail: "A plan with this name already exists.",
  parameter: "name",
  requestId: null,
} as const;

function PlanDialog({ plan, names, onClose, onChange }: PlanDialogProps) {
  const announce = useToast();
  const { busy, errorOf, failure, formProps } = useSubmit<{ plan: PlanForm & { name: string } }>({
    fields: ["name", ...LIMITS.map(({ field }) => field)],
    form: "plan",
    bodyOf: (form) => ({ name: textOf(form, "name").trim(), ...planOf(form) }),
    send: async (form) => {
      const name = plan?.name ?? textOf(form, "name").trim();
      // Otherwise this would change the limits of the existing plan and its accounts.
      if (plan === undefined && names.includes(name)) return { failure: TAKEN };
      return callPortal("PUT", `admin/plans/${encodeURIComponent(name)}`, planOf(form));
    },
    done: ({ plan: { name } }) => {
      onClose();
      onChange();
      announce(`Plan ${name} saved. Takes effect within a second.`);
    },
  });
  return (
    <Dialog
      open
      onOpenChange={onClose}
      title={plan === undefined ? "Add a plan" : `Plan ${plan.name}`}
      description={
        plan === undefined ? "You can assign accounts to it right away." : `Applies to ${accountsText(plan.accounts)}.`
      }
    >
      <form {...formProps} className="space-y-5">
        {plan === undefined ? (
          <TextField
            label="Name"
            name="name"
            required
            maxLength={PLAN_NAME_MAX_CHARACTERS}
            autoComplete="off"
            hint="Lower-case letters, digits and dashes."
            error={errorOf("name")}
          />
        ) : null}
        <div className="grid gap-5 sm:grid-cols-2">
          {LIMITS.map(({ field, label, hint, start }) => (
            <TextField
              key={field}
              label={label}
              name={field}
              type="number"
              inputMode="numeric"
              min={1}
              step={1}
              required
              hint={hint}
              defaultValue={plan?.[field] ?? start}
              error={errorOf(field)}
              className="font-mono tabular-nums"
            />
          ))}
        </div>
        <Checkbox
          name={LIVE}
          label="Live access"
          hint="Every account on this plan can make live keys and read the live feed."
          defaultChecked={plan?.live_access ?? false}
        />
        <DialogSubmit failure={failure} busy={busy} onCancel={onClose}>
          {plan === undefined ? "Add plan" : "Save"}
        </DialogSubmit>
      </form>
    </Dialog>
  );
}

function accountsText(count: number): string {
  return count === 1 ? "1 account" : `${countText(count)} accounts`;
}

function columns(edit: (plan: AdminPlan) => void): readonly Column<AdminPlan>[] {
  const [perMinute, burst, connections, subscriptions] = LIMITS;
  const limit = (head: string, { field }: (typeof LIMITS)[number], from?: "sm" | "md" | "lg"): Column<AdminPlan> => {
    return { head, numeric: true, cell: (plan) => countText(plan[field]), ...(from && { from }) };
  };
  return [
    {
      head: "Plan",
      cell: ({ name, rest_burst, stream_connections, subscriptions_per_connection }) => (
        <>
          <span className="block font-medium [overflow-wrap:anywhere]">{name}</span>
          <span className="block text-ink-faint text-xs leading-5 sm:hidden">burst {countText(rest_burst)}</span>
          <span className="block text-ink-faint text-xs leading-5 lg:hidden">
            {countText(stream_connections)} × {countText(subscriptions_per_connection)} subscriptions
          </span>
        </>
      ),
    },
    limit("REST / min", perMinute),
    limit("Burst", burst, "sm"),
    limit("Connections", connections, "md"),
    limit("Subscriptions", subscriptions, "lg"),
    { head: "Live access", from: "md", cell: ({ live_access }) => (live_access ? "Yes" : "No") },
    { head: "Accounts", numeric: true, from: "sm", cell: ({ accounts }) => countText(accounts) },
    {
      head: <span className="sr-only">Actions</span>,
      cell: (plan) => (
        <div className="text-right">
          <Button aria-label={`Edit ${plan.name}`} onClick={() => edit(plan)}>
            Edit
          </Button>
        </div>
      ),
    },
  ];
}

/** All plans with their limits and whether they give live access. */
export function PlansView() {
  const { data, error, mutate } = usePortal<{ items: readonly AdminPlan[] }>("admin/plans");
  const reload = () => void mutate();
  const [open, setOpen] = useState<{ plan: AdminPlan | undefined }>();
  const add = (
    <Button kind="primary" disabled={data === undefined} onClick={() => setOpen({ plan: undefined })}>
      Add plan
    </Button>
  );
  return (
    <>
      <PageHead title="Plans" action={add}>
        Limits and live access per account, shared by all its keys.
      </PageHead>
      <Table
        caption="Plans"
        columns={columns((plan) => setOpen({ plan }))}
        rows={data?.items}
        rowKey={({ name }) => name}
        failure={error}
        retry={reload}
        expected={4}
        empty={<p>No plans yet. Add one, then assign accounts to it.</p>}
      />
      {open === undefined ? null : (
        <PlanDialog
          plan={open.plan}
          names={data?.items.map(({ name }) => name) ?? []}
          onClose={() => setOpen(undefined)}
          onChange={reload}
        />
      )}
    </>
  );
}
