import { msText } from "../portal/numbers";
import type { Timing, TimingPart } from "./timing";

function Bars({ parts, wholeMs }: { parts: readonly TimingPart[]; wholeMs: number }) {
  const starts = parts.map((_, index) => parts.slice(0, index).reduce((sum, { ms }) => sum + ms, 0));
  return (
    <dl className="grid grid-cols-[auto_minmax(0,1fr)_auto] items-center gap-x-4 gap-y-1.5 text-sm leading-6">
      {parts.map(({ name, ms }, index) => (
        <div key={name} className="contents">
          <dt className="text-ink-soft">{name}</dt>
          <dd aria-hidden="true" className="h-2 rounded-full bg-line">
            <div
              className="h-full min-w-0.5 rounded-full bg-accent"
              style={{ marginLeft: `${(100 * (starts[index] ?? 0)) / wholeMs}%`, width: `${(100 * ms) / wholeMs}%` }}
            />
          </dd>
          <dd className="text-right font-mono text-xs tabular-nums">{msText(ms)}</dd>
        </div>
      ))}
    </dl>
  );
}

/** Where the time of a call went, and what is not known of it. */
export function TimingView({ timing }: { timing: Timing | undefined }) {
  if (timing === undefined)
    return <p className="text-ink-soft text-sm leading-6">Your browser did not measure the parts of this call.</p>;
  const { parts, reused, server } = timing;
  const wholeMs = Math.max(
    0.001,
    parts.reduce((sum, { ms }) => sum + ms, 0),
  );
  return (
    <div className="flex flex-col gap-4 rounded-lg border border-line bg-surface p-4">
      <Bars parts={parts} wholeMs={wholeMs} />
      {server.length === 0 ? null : <Bars parts={server} wholeMs={wholeMs} />}
      <p className="text-ink-faint text-xs leading-5">
        {reused ? "An open connection was reused, so there was no DNS lookup, connect or TLS. " : ""}
        {server.length === 0
          ? "The wait includes the network both ways and the work of the service."
          : "The lower bar is the work of the service, as it reports it in Server-Timing; it is part of the wait."}
      </p>
    </div>
  );
}
