"use client";

import { useState } from "react";
import type { PortalAccount } from "#lib/contract/portal-admin";
import { callPortal } from "../portal/api";
import { textOf, useSubmit } from "../portal/use-submit";
import { Dialog } from "../ui/dialog";
import { DialogSubmit } from "../ui/dialog-submit";
import { Field, TextField } from "../ui/field";
import { Select } from "../ui/select";

/** Creates a customer's account, and opens its page, where its owner is invited. */
export function CreateCustomer({ plans, onClose }: { plans: readonly string[]; onClose: () => void }) {
  const [plan, setPlan] = useState(plans.includes("free") ? "free" : (plans[0] ?? "free"));
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
              options={plans.map((name) => ({ value: name, label: name }))}
              value={plan}
              onChange={setPlan}
            />
          )}
        </Field>
        <DialogSubmit failure={failure} busy={busy} onCancel={onClose}>
          Create customer
        </DialogSubmit>
      </form>
    </Dialog>
  );
}
