import type { ReactNode } from "react";

/** One form with its heading, and links to related pages below. */
export function AuthCard({
  title,
  lead,
  children,
  foot,
}: {
  title: string;
  lead: ReactNode;
  children: ReactNode;
  foot?: ReactNode;
}) {
  return (
    <>
      <h1 className="font-semibold text-2xl leading-8 tracking-tight">{title}</h1>
      <p className="mt-2 text-ink-soft text-sm leading-6">{lead}</p>
      <div className="mt-6">{children}</div>
      {foot === undefined ? null : <p className="mt-6 text-ink-soft text-sm">{foot}</p>}
    </>
  );
}

/** The class of a link inside a sentence. */
export const TEXT_LINK = "text-accent underline";
