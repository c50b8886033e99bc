import type { ReactNode } from "react";

/** The meaning of a badge's colour; `neutral` is no alarm. */
export type Tone = "positive" | "neutral" | "warning" | "danger";

const TONES: Record<Tone, string> = {
  positive: "text-positive",
  neutral: "text-neutral",
  warning: "text-warning",
  danger: "text-danger",
};

/** A state in words, with a coloured dot. */
export function Badge({ tone, children, title }: { tone: Tone; children: ReactNode; title?: string }) {
  return (
    <span
      title={title}
      className={`inline-flex items-center gap-1.5 whitespace-nowrap rounded-full border border-current/25 px-2 text-xs leading-5 ${TONES[tone]}`}
    >
      <span aria-hidden="true" className="size-1.5 rounded-full bg-current" />
      {children}
    </span>
  );
}
