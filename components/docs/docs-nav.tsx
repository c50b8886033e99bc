"use client";

import Link from "next/link";
import { usePathname } from "next/navigation";
import { useState } from "react";
import type { NavGroup, NavPage, NavSection } from "#lib/docs/navigation";

const LINK =
  "block rounded-md px-3 py-1 text-ink-soft text-sm leading-6 hover:text-ink aria-[current=page]:bg-line/70 aria-[current=page]:font-medium aria-[current=page]:text-ink";

interface EntryProps {
  readonly path: string;
  readonly onGo: () => void;
}

function PageEntry({ page, path, onGo }: EntryProps & { page: NavPage }) {
  return (
    <li>
      <Link
        prefetch={false}
        href={page.href}
        onClick={onGo}
        aria-current={path === page.href ? "page" : undefined}
        className={`${LINK} [overflow-wrap:anywhere]`}
      >
        {page.label}
      </Link>
    </li>
  );
}

/** Collapsed, unless it contains the current page. */
function GroupEntry({ group, path, onGo }: EntryProps & { group: NavGroup }) {
  const inside = group.pages.some(({ href }) => href === path);
  return (
    <li>
      <details open={inside} className="group">
        <summary className={`${LINK} flex cursor-pointer list-none items-center justify-between`}>
          {group.label}
          <svg viewBox="0 0 16 16" aria-hidden="true" className="size-3.5 group-open:rotate-90" fill="none" stroke="currentColor">
            <path d="m6 4 4 4-4 4" strokeWidth="1.5" strokeLinecap="round" strokeLinejoin="round" />
          </svg>
        </summary>
        <ul className="ml-3 border-line border-l pl-1">
          {group.pages.map((page) => (
            <PageEntry key={page.href} page={page} path={path} onGo={onGo} />
          ))}
        </ul>
      </details>
    </li>
  );
}

/** The tree of all pages: a column beside the page, collapsed above it on narrow screens. */
export function DocsNav({ sections }: { sections: readonly NavSection[] }) {
  const path = usePathname();
  const [open, setOpen] = useState(false);
  const close = () => setOpen(false);
  return (
    <div className="min-w-0 max-lg:mb-6 lg:-ml-3 lg:sticky lg:top-0 lg:-my-10 lg:max-h-dvh lg:w-52 lg:shrink-0 lg:self-start lg:overflow-y-auto lg:py-10">
      <button
        type="button"
        aria-expanded={open}
        aria-controls="docs-tree"
        onClick={() => setOpen(!open)}
        className="flex w-full items-center justify-between rounded-md border border-line bg-surface px-3 py-2 text-sm lg:hidden"
      >
        All pages
        <span aria-hidden="true">{open ? "−" : "+"}</span>
      </button>
      <nav id="docs-tree" aria-label="Documentation" className={open ? "max-lg:mt-3" : "max-lg:hidden"}>
        {sections.map(({ title, entries }) => (
          <section key={title} aria-label={title} className="mt-6 first:mt-0">
            <p className="mb-1 px-3 font-medium text-sm">{title}</p>
            <ul>
              {entries.map((entry) =>
                "href" in entry ? (
                  <PageEntry key={entry.href} page={entry} path={path} onGo={close} />
                ) : (
                  <GroupEntry key={entry.label} group={entry} path={path} onGo={close} />
                ),
              )}
            </ul>
          </section>
        ))}
      </nav>
    </div>
  );
}
