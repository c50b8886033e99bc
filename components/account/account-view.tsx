"use client";

import { useState } from "react";
import { PLAN_LIMIT_NAMES, PLAN_LIMITS, type PlanLimits } from "#lib/contract/limits";
import type { PortalSessionInfo, PortalUser } from "#lib/contract/portal";
import { countText } from "../portal/numbers";
import { usePortal } from "../portal/read";
import { ZoneSwitch } from "../shell/zone-switch";
import { Card, Figure, Figures, PageHead, Section } from "../ui/card";
import { Audit } from "./audit";
import { DeleteAccount } from "./delete-account";
import { LinkedProviders } from "./linked-providers";
import { EmailForm, PasswordForm, ProfileForm } from "./profile-forms";
import { SecondFactors } from "./second-factors";
import { Sessions } from "./sessions";

/** The plan of an account with its current limits. */
interface PlanInForce extends PlanLimits {
  readonly name: string;
}

interface AccountViewProps {
  readonly user: PortalUser;
  readonly plan: PlanInForce;
  readonly passwordMinCharacters: number;
}

function Limits({ plan }: { plan: PlanInForce }) {
  return (
    <Figures>
      {PLAN_LIMIT_NAMES.map((name) => (
        <Figure key={name} label={PLAN_LIMITS[name].head} value={countText(plan[name])} note={PLAN_LIMITS[name].unit} />
      ))}
    </Figures>
  );
}

/** Everything about the account that is not a key. */
export function AccountView({ user, plan, passwordMinCharacters }: AccountViewProps) {
  const sessions = usePortal<{ items: readonly PortalSessionInfo[] }>("sessions");
  const [changes, setChanges] = useState(0);
  const onChange = () => {
    void sessions.mutate();
    setChanges(changes + 1);
  };
  return (
    <>
      <PageHead title="Account">
        Signed in as <span className="[overflow-wrap:anywhere]">{user.email}</span>.
      </PageHead>
      <Section title="Plan and limits" aside={`Plan ${plan.name}, shared by all your keys`}>
        <Limits plan={plan} />
      </Section>
      <Section title="Profile">
        <ProfileForm user={user} onChange={onChange} />
      </Section>
      <Section title="Time zone" aside="Kept on this device">
        <Card className="flex flex-wrap items-center justify-between gap-3">
          <p className="max-w-prose text-ink-soft text-sm leading-6">
            All pages show times in this zone. Hover over a time for the other.
          </p>
          <ZoneSwitch />
        </Card>
      </Section>
      <div className="mt-10 grid items-start gap-x-6 lg:grid-cols-2">
        <Section title="Email">
          <EmailForm user={user} onChange={onChange} />
        </Section>
        <div className="mt-10 lg:mt-0">
          <Section title="Password">
            {user.hasPassword ? (
              <PasswordForm passwordMinCharacters={passwordMinCharacters} onChange={onChange} />
            ) : (
              <p className="text-ink-soft text-sm leading-6">
                You have no password. To set one, sign out, then choose “Forgot your password?”.
              </p>
            )}
          </Section>
        </div>
      </div>
      <Section title="Passkeys and two-step sign-in">
        <SecondFactors user={user} onChange={onChange} />
      </Section>
      <Section title="Linked providers">
        <LinkedProviders />
      </Section>
      <Section title="Active sessions">
        <Sessions sessions={sessions} />
      </Section>
      <Section title="Activity">
        {/* Read again after each change. */}
        <Audit key={changes} />
      </Section>
      <Section title="Delete account">
        <DeleteAccount user={user} />
      </Section>
    </>
  );
}
