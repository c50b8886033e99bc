"use client";

import Link from "next/link";
import { createContext, type ReactNode, use } from "react";

/** Whether the docs have what is for those who run an installation. */
const OperatorDocs = createContext(true);

/** Tells all links within whether they have a target. */
export function OperatorDocsProvider({ shown, children }: { shown: boolean; children: ReactNode }) {
  return <OperatorDocs value={shown}>{children}</OperatorDocs>;
}

/** A link to a page for those who run an installation; its words alone where the docs do not have it. */
export function OperatorDocsLink({ href, children }: { href: string; children: ReactNode }) {
  if (!use(OperatorDocs)) return children;
  return (
    <Link prefetch={false} href={href} className="text-accent underline">
      {children}
    </Link>
  );
}
