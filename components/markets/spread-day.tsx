"use client";

import type { MarketDetail } from "#lib/contract/markets";
import { SECOND_MS } from "#lib/units";
import { Instant } from "../portal/time";

const WIDTH = 480;
const HEIGHT = 96;
const GAP = 2;

function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)] ?? 0;
}

/** The smallest spread of each half hour as bars, and the extremes of these in pips. */
export function SpreadDay({ spreads, pip }: { spreads: MarketDetail["spreads"]; pip: number }) {
  const [first] = spreads;
  const last = spreads.at(-1);
  if (first === undefined || last === undefined)
    return <p className="text-ink-soft text-sm leading-6">No spreads are known for the last 24 hours of trading.</p>;
  const pips = spreads.map(([, spread]) => spread / pip);
  const top = Math.max(...pips);
  const step = WIDTH / spreads.length;
  const figures = [
    ["Narrowest half hour", Math.min(...pips)],
    ["Median half hour", median(pips)],
    ["Widest half hour", top],
  ] as const;
  return (
    <figure className="rounded-xl border border-line bg-surface p-4">
      <svg viewBox={`0 0 ${WIDTH} ${HEIGHT}`} preserveAspectRatio="none" aria-hidden="true" className="h-24 w-full text-accent">
        {pips.map((value, index) => {
          const height = top === 0 ? 0 : (HEIGHT * value) / top;
          const time = spreads[index]?.[0] ?? 0;
          return (
            <rect
              key={time}
              x={index * step}
              y={HEIGHT - height}
              width={step - GAP}
              height={height}
              fill="currentColor"
              opacity="0.75"
            />
          );
        })}
      </svg>
      <div aria-hidden="true" className="mt-2 flex justify-between font-mono text-ink-faint text-xs tabular-nums">
        <Instant at={new Date(first[0] * SECOND_MS).toISOString()} to="time" />
        <Instant at={new Date(last[0] * SECOND_MS).toISOString()} to="time" />
      </div>
      <dl className="mt-3 flex flex-wrap gap-x-6 gap-y-1 text-sm">
        {figures.map(([label, value]) => (
          <div key={label} className="flex gap-2">
            <dt className="text-ink-faint">{label}</dt>
            <dd className="font-mono tabular-nums">{value.toFixed(1)} pips</dd>
          </div>
        ))}
      </dl>
      <figcaption className="mt-2 text-ink-faint text-xs leading-5">
        The smallest spread of each half hour, from the klines of the last 24 hours of trading. Within a half hour they may have
        been wider.
      </figcaption>
    </figure>
  );
}
