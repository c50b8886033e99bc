"use client";

import { useState } from "react";
import type { AdminPlan, PortalAccount } from "#lib/contract/portal-admin";
import { callPortal } from "../portal/api";
import { textOf, useSubmit } from "../portal/use-submit";
import { Dialog } from "../ui/dialog";
import { DialogSubmit } from "../ui/dialog-submit";
import { Field, TextField } from "../ui/field";
import { Select } from "../ui/select";
import { ProviderTerms } from "./provider-terms";

/** Creates a customer's account, and opens its page, where its owner is invited. */
export function CreateCustomer({ plans, onClose }: { plans: readonly AdminPlan[]; onClose: () => void }) {
  const names = plans.map(({ name }) => name);
  const [plan, setPlan] = useState(names.includes("free") ? "free" : (names[0] ?? "free"));
  const { busy, errorOf, failure, formProps } = useSubmit<{ account: PortalAccount }>({
    fields: ["name", "plan"],
    form: "customer",
    send: (form) => callPortal("POST", "admin/accounts", { name: textOf(form, "name"), plan }),
    done: ({ account }) => window.location.assign(`/admin/accounts/${account.id}`),
  });
  return (
    <Dialog open onOpenChange={onClose} title="Create a customer" description="Next, invite its owner on its page.">
      <form {...formProps} className="space-y-5">
        <TextField label="Name" name="name" autoComplete="off" required error={errorOf("name")} />
        <Field label="Plan" error={errorOf("plan")}>
          {(control) => (
            <Select
              {...control}
              name="plan"
              options={names.map((name) => ({ value: name, label: name }))}
              value={plan}
              onChange={setPlan}
            />
          )}
        </Field>
        {plans.some(({ name, live_access }) => name === plan && live_access) ? <ProviderTerms /> : null}
        <DialogSubmit failure={failure} busy={busy} onCancel={onClose}>
          Create customer
        </DialogSubmit>
      </form>
    </Dialog>
  );
}
