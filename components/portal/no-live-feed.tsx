import type { ReactNode } from "react";
import { OperatorDocsLink } from "./operator-docs";

/** Says that nothing feeds the live venue, and how to change that. */
export function NoLiveFeed({ children }: { /** What is so until then, as the end of a sentence. */ children: ReactNode }) {
  return (
    <p className="rounded-md border border-warning/40 bg-surface px-3 py-2 text-sm leading-6">
      <strong className="font-medium">No live feed yet.</strong> Until an operator{" "}
      <OperatorDocsLink href="/docs/self-hosting#provider">binds a provider</OperatorDocsLink>, {children}
    </p>
  );
}
