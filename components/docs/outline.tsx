"use client";

import type { TOCItemType } from "fumadocs-core/toc";
import { AnchorProvider, TOCItem } from "fumadocs-core/toc";

const DEEPEST = 3;

/** The headings of the page, with the current one marked. */
export function Outline({ items }: { items: readonly TOCItemType[] }) {
  const shown = items.filter(({ depth }) => depth <= DEEPEST);
  if (shown.length < 2) return null;
  return (
    <AnchorProvider toc={shown} single>
      <nav
        aria-label="On this page"
        className="self-start text-sm max-xl:hidden xl:sticky xl:top-(--header-height) xl:-my-10 xl:max-h-[calc(100dvh-var(--header-height))] xl:overflow-y-auto xl:py-10"
      >
        <p className="mb-2 font-medium">On this page</p>
        <ul className="border-line border-l">
          {shown.map(({ url, title, depth }) => (
            <li key={url}>
              <TOCItem
                href={url}
                autoScroll={false}
                className={`-ml-px block border-transparent border-l py-1 text-ink-soft leading-5 hover:text-ink data-[active=true]:border-accent data-[active=true]:text-ink ${depth > 2 ? "pl-6" : "pl-3"}`}
              >
                {title}
              </TOCItem>
            </li>
          ))}
        </ul>
      </nav>
    </AnchorProvider>
  );
}
