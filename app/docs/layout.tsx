import type { ReactNode } from "react";
import { docsHere } from "#app/docs-here";
import { DocsNav } from "#components/docs/docs-nav";
import { docsSections } from "#lib/docs/navigation";
import "../../components/ui/syntax.css";
import "./docs.css";
import "./code.css";
import "./reference.css";
import "./blocks.css";

/**
 * The docs, with the tree of pages beside each page. The columns do not depend on what is in them: the outline comes after the text,
 * which must not become narrower then.
 */
export default function DocsLayout({ children }: { children: ReactNode }) {
  return (
    <div className="mx-auto flex w-full max-w-(--page-width) flex-1 flex-col px-4 py-4 sm:px-8 lg:grid lg:grid-cols-[12.25rem_minmax(0,1fr)] lg:gap-10 lg:py-10 xl:grid-cols-[12.25rem_minmax(0,1fr)_11rem]">
      <DocsNav sections={docsSections(docsHere())} />
      {children}
    </div>
  );
}
