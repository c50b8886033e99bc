"use client";

import type { LiveTerms } from "#lib/contract/portal-admin";
import { usePortal } from "../portal/read";

/** What the providers of live prices say about passing them on, where an operator gives others access. */
export function ProviderTerms() {
  const { data } = usePortal<LiveTerms>("admin/live-terms");
  if (data === undefined || data.items.length === 0) return null;
  return (
    <div className="rounded-md border border-warning/40 p-3 text-sm leading-6">
      <p className="font-medium">You pass on somebody else's prices</p>
      <ul className="mt-1 space-y-1 text-ink-soft">
        {data.items.map(({ provider, terms, guide }) => (
          <li key={provider}>
            <a href={guide} target="_blank" rel="noreferrer" className="text-accent underline">
              {provider}
            </a>
            : {terms}
          </li>
        ))}
      </ul>
    </div>
  );
}
