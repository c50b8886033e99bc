import type { ReactNode } from "react";

/** Tells a reader above every page of an area what is closed to them, and how it opens. */
export function AreaNotice({ title, children }: { title: string; children: ReactNode }) {
  return (
    <div className="mb-8 rounded-lg border border-warning/40 bg-surface p-4 text-sm leading-6">
      <p className="max-w-prose">
        <strong className="font-medium">{title}</strong> <span className="text-ink-soft">{children}</span>
      </p>
    </div>
  );
}
