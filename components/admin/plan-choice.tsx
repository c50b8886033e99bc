"use client";

import { useState } from "react";
import type { PortalAccount } from "#lib/contract/portal-admin";
import { callPortal } from "../portal/api";
import { useSubmit } from "../portal/use-submit";
import { Button } from "../ui/button";
import { Select } from "../ui/select";
import { useToast } from "../ui/toast";

interface PlanChoiceProps {
  readonly account: PortalAccount;
  readonly plans: readonly string[];
  readonly onChange: () => void;
}

/** An account's plan. Selecting alone changes nothing, because arrow keys step through a select and each plan would apply. */
export function PlanChoice({ account, plans, onChange }: PlanChoiceProps) {
  const announce = useToast();
  const [plan, setPlan] = useState(account.plan);
  const { busy, errorOf, failure, formProps } = useSubmit({
    fields: ["plan"],
    send: () => callPortal("PATCH", `admin/accounts/${account.id}`, { plan }),
    done: () => {
      onChange();
      announce(`${account.name} is now on plan ${plan}.`);
    },
  });
  const names = plans.includes(account.plan) ? plans : [account.plan, ...plans];
  const wrong = errorOf("plan") ?? failure?.detail;
  return (
    <form {...formProps} className="flex flex-wrap items-center gap-2">
      <Select
        name="plan"
        aria-label={`Plan of ${account.name}`}
        options={names.map((name) => ({ value: name, label: name }))}
        value={plan}
        onChange={setPlan}
        className="w-auto! max-w-36"
      />
      {plan === account.plan ? null : (
        <Button type="submit" kind="primary" busy={busy}>
          Save
        </Button>
      )}
      {wrong === undefined ? null : (
        <p role="alert" className="w-full text-danger text-xs leading-5">
          {wrong}
        </p>
      )}
    </form>
  );
}
