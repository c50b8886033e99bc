"use client";

import { useState } from "react";
import type { ChangeReason, PrecedenceChange, PrecedenceReport } from "#lib/contract/portal-feeds";
import { countText } from "../portal/numbers";
import { Instant } from "../portal/time";
import { Badge } from "../ui/badge";
import { Button } from "../ui/button";
import { PinDialog } from "./pin-dialog";

const REASONS: Record<ChangeReason, string> = {
  first: "First choice",
  lost: "Connection lost",
  quiet: "No more ticks",
  back: "Well again for 5 minutes",
  pinned: "Pinned by an operator",
};

const instruments = (count: number) => `${countText(count)} ${count === 1 ? "instrument" : "instruments"}`;

/** Why a provider speaks, or no longer does. */
function whyText(name: string, { from, to, reason }: PrecedenceChange): string {
  if (from === null) return REASONS[reason];
  const why = REASONS[reason].toLowerCase();
  return to === name ? `Took over from ${from}: ${why}` : `Replaced by ${to}: ${why}`;
}

function ChangeText({ at, from, to, reason, tickers, some }: PrecedenceChange) {
  return (
    <>
      <Instant at={at} to="second" /> <span className="font-medium">{REASONS[reason]}</span>
      {": "}
      {from === null ? null : <code className="font-mono text-xs">{from} → </code>}
      <code className="font-mono text-xs">{to}</code> <span className="text-ink-soft">for {instruments(tickers)}</span>{" "}
      <span className="text-ink-faint text-xs">
        {some.join(", ")}
        {tickers > some.length ? " …" : null}
      </span>
    </>
  );
}

/** Which of several providers speaks, and why; `onChange` is called after one was pinned or released. */
export function PrecedenceView({ precedence, onChange }: { precedence: PrecedenceReport; onChange: () => void }) {
  const { providers, waiting, pinned, changes, divergent } = precedence;
  const [asked, setAsked] = useState<{ readonly provider: string | null }>();
  return (
    <div className="space-y-3 bg-surface p-4">
      <h3 className="font-medium text-sm">Precedence</h3>
      <ol className="space-y-1 text-sm">
        {providers.map(({ name, speaks }) => {
          const last = changes.find(({ from, to }) => to === name || from === name);
          return (
            <li key={name} className="flex flex-wrap items-baseline justify-between gap-x-4">
              <span>
                <code className="font-mono">{name}</code>{" "}
                {speaks === 0 ? (
                  <Badge tone="neutral">Standby</Badge>
                ) : (
                  <Badge tone="positive">Speaks for {instruments(speaks)}</Badge>
                )}
                {name === pinned ? (
                  <>
                    {" "}
                    <Badge tone="warning">Pinned</Badge>
                  </>
                ) : null}
              </span>
              <span className="flex flex-wrap items-baseline gap-x-3">
                {last === undefined ? null : (
                  <span className="text-ink-faint text-xs leading-5">
                    {whyText(name, last)}, <Instant at={last.at} to="second" />
                  </span>
                )}
                {name === pinned ? (
                  <Button onClick={() => setAsked({ provider: null })} aria-label={`Release ${name}`}>
                    Release…
                  </Button>
                ) : (
                  <Button onClick={() => setAsked({ provider: name })} aria-label={`Pin ${name}`}>
                    Pin…
                  </Button>
                )}
              </span>
            </li>
          );
        })}
      </ol>
      {waiting === 0 ? null : <p className="text-ink-faint text-sm">No provider speaks for {instruments(waiting)} yet.</p>}
      {divergent.length === 0 ? null : (
        <div className="text-sm">
          <p className="text-warning">
            Prices differ by more than ten spreads. Nothing changes by itself; find out who is right.
          </p>
          <ul className="mt-1 space-y-1">
            {divergent.map(({ ticker, name, since }) => (
              <li key={`${ticker} ${name}`}>
                <span className="font-medium">{ticker}</span> at <code className="font-mono text-xs">{name}</code>{" "}
                <span className="text-ink-faint text-xs">
                  since <Instant at={since} to="second" />
                </span>
              </li>
            ))}
          </ul>
        </div>
      )}
      {changes.length === 0 ? null : (
        <details className="text-sm">
          <summary className="mb-1 cursor-pointer text-ink-soft hover:text-ink">
            {changes.length === 1 ? "The last change" : `The last ${countText(changes.length)} changes`}
          </summary>
          <ul className="space-y-1">
            {changes.map((change) => (
              <li key={`${change.at} ${change.from} ${change.to} ${change.reason}`} className="[overflow-wrap:anywhere]">
                <ChangeText {...change} />
              </li>
            ))}
          </ul>
        </details>
      )}
      {asked === undefined ? null : <PinDialog {...asked} onClose={() => setAsked(undefined)} onChange={onChange} />}
    </div>
  );
}
