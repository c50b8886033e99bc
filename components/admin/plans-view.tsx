"use client";

import { useState } from "react";
import { PLAN_LIMITS, PLAN_PRICE_MAX_CHARACTERS } from "#lib/contract/limits";
import { type AdminPlan, PLAN_NAME_MAX_CHARACTERS, type PlanForm } from "#lib/contract/portal-admin";
import { termsOf } from "../plans/terms";
import { callPortal } from "../portal/api";
import { countText } from "../portal/numbers";
import { usePortal } from "../portal/read";
import { numberOf, refused, type Submission, textOf, useSubmit } from "../portal/use-submit";
import { Button } from "../ui/button";
import { PageHead } from "../ui/card";
import { Dialog } from "../ui/dialog";
import { DialogSubmit } from "../ui/dialog-submit";
import { TextField } from "../ui/field";
import { Checkbox } from "../ui/select";
import { type Column, Table } from "../ui/table";
import { useToast } from "../ui/toast";
import { HistoryField, PermissionFields, permissionsOf } from "./account-permissions";
import { ProviderTerms } from "./provider-terms";

const LIMITS = Object.values(PLAN_LIMITS);
const WIDTHS = ["sm", "md", "lg"] as const;
const HIDDEN = { sm: "sm:hidden", md: "md:hidden", lg: "lg:hidden" };
/** The limits, and from which width each has a column; on narrower screens it is below the name of the plan. */
const PLACED = LIMITS.map((limit, at) => ({ ...limit, from: at === 0 ? undefined : (WIDTHS[at - 1] ?? "lg") }));

const planOf = (form: FormData) => ({
  ...Object.fromEntries(LIMITS.map(({ field }) => [field, numberOf(form, field) ?? undefined])),
  live_access: form.has("live_access"),
  month_units: numberOf(form, "month_units"),
  month_hard: form.has("month_hard"),
  history_days: numberOf(form, "history_days"),
  streams: form.has("streams"),
  permissions: permissionsOf(form),
  price: textOf(form, "price").trim() || null,
  public: form.has("public"),
});

/** What a new plan includes besides its rates: everything but the live venue. */
const NEW_PLAN = {
  live_access: false,
  month_units: null,
  month_hard: false,
  history_days: null,
  streams: true,
  permissions: { kind: "all" },
  price: null,
  public: false,
} as const satisfies Partial<PlanForm>;

/** The fields of what a plan includes besides its rates. */
function TermFields({ plan, errorOf }: { readonly plan: AdminPlan | undefined; readonly errorOf: Submission["errorOf"] }) {
  const terms = plan ?? NEW_PLAN;
  return (
    <>
      <div className="grid gap-5 sm:grid-cols-2">
        <TextField
          type="number"
          inputMode="numeric"
          min={1}
          step={1}
          className="font-mono tabular-nums"
          label="Units per month"
          name="month_units"
          hint="For all requests of an account in a UTC month. Empty: no quota."
          defaultValue={terms.month_units ?? ""}
          error={errorOf("month_units")}
        />
        <HistoryField days={terms.history_days} error={errorOf("history_days")} />
      </div>
      <div className="grid gap-2">
        <Checkbox
          name="month_hard"
          label="Refuse requests beyond the quota"
          hint="Otherwise they are only counted. Open streams go on either way."
          defaultChecked={terms.month_hard}
        />
        <Checkbox
          name="streams"
          label="Streams"
          hint="Its accounts can open stream connections. Without it, open ones are closed."
          defaultChecked={terms.streams}
        />
        <Checkbox
          name="live_access"
          label="Live access"
          hint="Every account on this plan can make live keys and read the live feed."
          defaultChecked={terms.live_access}
        />
      </div>
      <ProviderTerms />
      <PermissionFields start={terms.permissions} wrong={errorOf("permissions") !== undefined} />
      <TextField
        label="Price"
        name="price"
        maxLength={PLAN_PRICE_MAX_CHARACTERS}
        autoComplete="off"
        hint="Shown as it is, for example “€ 49 a month”. Empty: none."
        defaultValue={terms.price ?? ""}
        error={errorOf("price")}
      />
      <Checkbox
        name="public"
        label="On the page of plans"
        hint="Everybody can see it at /plans, where PLANS_PAGE=public."
        defaultChecked={terms.public}
      />
    </>
  );
}

interface PlanDialogProps {
  /** The plan to change; undefined creates one. */
  readonly plan: AdminPlan | undefined;
  /** Names that are already used. */
  readonly names: readonly string[];
  readonly onClose: () => void;
  readonly onChange: () => void;
}

function PlanDialog({ plan, names, onClose, onChange }: PlanDialogProps) {
  const announce = useToast();
  const { busy, errorOf, failure, formProps } = useSubmit<{ plan: PlanForm & { name: string } }>({
    fields: ["name", ...LIMITS.map(({ field }) => field), "month_units", "history_days", "permissions", "price"],
    form: "plan",
    bodyOf: (form) => ({ name: textOf(form, "name").trim(), ...planOf(form) }),
    send: async (form) => {
      const name = plan?.name ?? textOf(form, "name").trim();
      // Otherwise this would change the limits of the existing plan and its accounts.
      if (plan === undefined && names.includes(name)) return refused("name", "A plan with this name already exists.");
      return callPortal("PUT", `admin/plans/${encodeURIComponent(name)}`, {
        ...planOf(form),
        revision: plan?.revision ?? null,
      });
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
          {LIMITS.map(({ field, label, hint, defaults }) => (
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
              defaultValue={plan?.[field] ?? defaults.free}
              error={errorOf(field)}
              className="font-mono tabular-nums"
            />
          ))}
        </div>
        <TermFields plan={plan} errorOf={errorOf} />
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
  return [
    {
      head: "Plan",
      grow: true,
      cell: (plan) => (
        <>
          <span className="block font-medium [overflow-wrap:anywhere]">{plan.name}</span>
          <span className="block text-ink-faint text-xs leading-5">{termsOf(plan).join(", ")}</span>
          {PLACED.map(({ field, head, from }) =>
            from === undefined ? null : (
              <span key={field} className={`block text-ink-faint text-xs leading-5 ${HIDDEN[from]}`}>
                {head.toLowerCase()} {countText(plan[field])}
              </span>
            ),
          )}
        </>
      ),
    },
    ...PLACED.map(({ field, head, from }): Column<AdminPlan> => {
      return { head, numeric: true, cell: (plan) => countText(plan[field]), ...(from && { from }) };
    }),
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

/** All plans with their limits and what they include. */
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
        What accounts may use, shared by all their keys.
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
