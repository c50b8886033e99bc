import type { ReactNode } from "react";

/** The header of a page: its h1, its summary, and its main action. */
export function PageHead({ title, children, action }: { title: string; children: ReactNode; action?: ReactNode }) {
  return (
    <div className="mb-8 flex flex-wrap items-start justify-between gap-4">
      <div className="min-w-0">
        <h1 className="font-semibold text-2xl leading-8 tracking-tight">{title}</h1>
        <p className="mt-1 max-w-prose text-ink-soft text-sm leading-6">{children}</p>
      </div>
      {action}
    </div>
  );
}

/** A section of a page under a heading. */
export function Section({ title, aside, children }: { title: string; aside?: ReactNode; children: ReactNode }) {
  return (
    <section className="mt-10 first:mt-0">
      <div className="mb-3 flex min-h-6 flex-wrap items-baseline justify-between gap-x-4 gap-y-1">
        <h2 className="font-medium">{title}</h2>
        {aside === undefined ? null : <div className="text-ink-faint text-sm">{aside}</div>}
      </div>
      {children}
    </section>
  );
}

/** A framed section of a page. */
export function Card({ children, className = "" }: { children: ReactNode; className?: string }) {
  return <div className={`rounded-lg border border-line bg-surface p-4 sm:p-5 ${className}`}>{children}</div>;
}

/** One number with its label. */
export function Figure({ label, value, note }: { label: string; value: ReactNode; note?: ReactNode }) {
  return (
    <div className="min-w-0 bg-surface p-4">
      <dt className="text-ink-faint text-xs leading-5">{label}</dt>
      <dd className="mt-1 font-medium font-mono text-base min-[24rem]:text-xl tabular-nums leading-7">{value}</dd>
      {note === undefined ? null : <dd className="mt-1 text-ink-faint text-xs leading-5">{note}</dd>}
    </div>
  );
}

/** Numbers side by side. */
export function Figures({ children }: { children: ReactNode }) {
  return (
    <dl className="grid grid-cols-2 gap-px overflow-hidden rounded-lg border border-line bg-line lg:grid-cols-4">{children}</dl>
  );
}
