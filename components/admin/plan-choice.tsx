"use client";

import { useState } from "react";
import type { AdminPlan, PortalAccount } from "#lib/contract/portal-admin";
import { Button } from "../ui/button";
import { Select } from "../ui/select";
import { useAccountChange } from "./account-change";
import { ProviderTerms } from "./provider-terms";

interface PlanChoiceProps {
  readonly account: PortalAccount;
  readonly plans: readonly AdminPlan[];
  readonly onChange: () => void;
}

const nothing = () => {};

/** An account's plan. Selecting alone changes nothing, because arrow keys step through a select and each plan would apply. */
export function PlanChoice({ account, plans, onChange }: PlanChoiceProps) {
  // The account as it was when the plan was chosen, because its revision is sent with the change.
  const [chosen, setChosen] = useState<{ readonly plan: string; readonly account: PortalAccount }>();
  const plan = chosen?.plan ?? account.plan;
  const changed = () => {
    setChosen(undefined);
    onChange();
  };
  const { busy, failure, formProps } = useAccountChange(
    { account: chosen?.account ?? account, onClose: nothing, onChange: changed },
    { bodyOf: () => ({ plan }), said: `${account.name} is now on plan ${plan}.` },
  );
  const names = plans.map(({ name }) => name);
  const known = names.includes(account.plan) ? names : [account.plan, ...names];
  const hasLive = account.live_access || account.plan_live_access;
  const givesLive = !hasLive && plans.some(({ name, live_access }) => name === plan && live_access);
  return (
    <form {...formProps} className="flex flex-wrap items-center gap-2">
      <Select
        name="plan"
        aria-label={`Plan of ${account.name}`}
        options={known.map((name) => ({ value: name, label: name }))}
        value={plan}
        onChange={(plan) => setChosen({ plan, account })}
        className="w-auto! max-w-36"
      />
      {plan === account.plan ? null : (
        <Button type="submit" kind="primary" busy={busy}>
          Save
        </Button>
      )}
      {givesLive ? (
        <div className="w-full max-w-72">
          <ProviderTerms />
        </div>
      ) : null}
      {failure === undefined ? null : (
        <p role="alert" className="w-full text-danger text-xs leading-5">
          {failure.detail}
        </p>
      )}
    </form>
  );
}
