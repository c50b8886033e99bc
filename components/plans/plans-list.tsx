import Link from "next/link";
import { PLAN_LIMITS } from "#lib/contract/limits";
import type { PublicPlan } from "#lib/contract/portal-admin";
import { countText } from "../portal/numbers";
import { buttonClass } from "../ui/button";
import { Card } from "../ui/card";
import { termsOf } from "./terms";

const capital = (text: string) => text.charAt(0).toUpperCase() + text.slice(1);

interface PlansListProps {
  readonly plans: readonly PublicPlan[];
  /** Whether the reader has no account, and can sign up without an invitation. */
  readonly signUp: boolean;
}

/** Plans side by side, for people who choose one. */
export function PlansList({ plans, signUp }: PlansListProps) {
  if (plans.length === 0) return <p className="text-ink-soft text-sm">There are no public plans.</p>;
  return (
    <ul className="grid gap-4 sm:grid-cols-2 lg:grid-cols-3">
      {plans.map((plan) => (
        <li key={plan.name} className="grid">
          <Card className="flex flex-col">
            <h2 className="font-semibold text-lg [overflow-wrap:anywhere]">{capital(plan.name)}</h2>
            {plan.price === null ? null : <p className="mt-1 text-ink-soft text-sm [overflow-wrap:anywhere]">{plan.price}</p>}
            <ul className="mt-4 space-y-1.5 text-sm leading-6">
              {termsOf(plan).map((term) => (
                <li key={term}>{capital(term)}</li>
              ))}
            </ul>
            <dl className="mt-4 mb-5 space-y-1.5 border-line border-t pt-4 text-sm leading-6">
              {Object.values(PLAN_LIMITS).map(({ field, label }) => (
                <div key={field} className="flex justify-between gap-4">
                  <dt className="text-ink-soft">{label}</dt>
                  <dd className="font-mono tabular-nums">{countText(plan[field])}</dd>
                </div>
              ))}
            </dl>
            {signUp ? (
              <Link href="/signup" className={`mt-auto ${buttonClass("primary")}`}>
                Create an account
              </Link>
            ) : null}
          </Card>
        </li>
      ))}
    </ul>
  );
}
