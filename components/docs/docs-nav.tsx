"use client";

import Link from "next/link";
import { usePathname } from "next/navigation";
import { useEffect, useRef, useState } from "react";
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

function Chevron({ className }: { className: string }) {
  return (
    <svg viewBox="0 0 16 16" aria-hidden="true" className={`size-3.5 ${className}`} fill="none" stroke="currentColor">
      <path d="m6 4 4 4-4 4" strokeWidth="1.5" strokeLinecap="round" strokeLinejoin="round" />
    </svg>
  );
}

/** Collapsed, unless it contains the current page. */
function GroupEntry({ group, path, onGo }: EntryProps & { group: NavGroup }) {
  const inside = group.pages.some(({ href }) => href === path);
  return (
    <li>
      <details open={inside} className="group/pages">
        <summary className={`${LINK} flex cursor-pointer list-none items-center justify-between`}>
          {group.label}
          <Chevron className="group-open/pages:rotate-90" />
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

/** Scrolls the tree, never the page, so that the current page is in view. */
function showCurrent(column: HTMLElement): void {
  const link = column.querySelector<HTMLElement>('[aria-current="page"]');
  if (link === null) return;
  const [frame, place] = [column.getBoundingClientRect(), link.getBoundingClientRect()];
  if (place.top >= frame.top && place.bottom <= frame.bottom) return;
  column.scrollTop += place.top - frame.top - (frame.height - place.height) / 2;
}

/** The tree of all pages: a column beside the page, collapsed above it on narrow screens. */
export function DocsNav({ sections }: { sections: readonly NavSection[] }) {
  const path = usePathname();
  const [open, setOpen] = useState(false);
  const close = () => setOpen(false);
  const column = useRef<HTMLDivElement>(null);
  // biome-ignore lint/correctness/useExhaustiveDependencies: another page has another link to show
  useEffect(() => {
    if (column.current !== null) showCurrent(column.current);
  }, [path]);
  return (
    <div
      ref={column}
      className="min-w-0 max-lg:mb-6 lg:-ml-3 lg:sticky lg:top-(--header-height) lg:-my-10 lg:max-h-[calc(100dvh-var(--header-height))] lg:self-start lg:overflow-y-auto lg:py-10"
    >
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
          <details key={title} open className="group/section mt-5 first:mt-0">
            <summary className="mb-1 flex cursor-pointer list-none items-center justify-between rounded-md px-3 py-0.5 font-medium text-sm leading-6 hover:bg-sunken">
              {title}
              <Chevron className="text-ink-faint group-open/section:rotate-90" />
            </summary>
            <ul>
              {entries.map((entry) =>
                "href" in entry ? (
                  <PageEntry key={entry.href} page={entry} path={path} onGo={close} />
                ) : (
                  <GroupEntry key={entry.label} group={entry} path={path} onGo={close} />
                ),
              )}
            </ul>
          </details>
        ))}
      </nav>
    </div>
  );
}
