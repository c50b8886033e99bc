"use client";

import * as Radix from "@radix-ui/react-tabs";
import { type ReactNode, useEffect, useRef, useState } from "react";

/** Tells of what Next's router does to the address, which has no other event. Older browsers have none. */
const navigationOf = (window: Window): EventTarget | undefined => (window as { readonly navigation?: EventTarget }).navigation;

/** One part of a page of the docs, with headings of its own. */
interface PageView {
  readonly title: string;
  readonly content: ReactNode;
}

/** Which part is shown, and the heading that was asked for. */
interface Shown {
  readonly title: string | undefined;
  readonly heading?: Element;
}

/**
 * The parts of a page as tabs. A link to a heading opens the part that has it, from another page, the outline or the search.
 */
export function PageViews({ views }: { views: readonly PageView[] }) {
  const root = useRef<HTMLDivElement>(null);
  const [shown, setShown] = useState<Shown>({ title: views[0]?.title });

  useEffect(() => {
    const open = () => {
      const heading = document.getElementById(decodeURIComponent(window.location.hash.slice(1)));
      const view = heading?.closest<HTMLElement>("[data-view]");
      if (heading && view && root.current?.contains(view)) setShown({ title: view.dataset.view, heading });
    };
    open();
    window.addEventListener("hashchange", open);
    navigationOf(window)?.addEventListener("currententrychange", open);
    return () => {
      window.removeEventListener("hashchange", open);
      navigationOf(window)?.removeEventListener("currententrychange", open);
    };
  }, []);
  useEffect(() => {
    shown.heading?.scrollIntoView();
  }, [shown]);

  return (
    <Radix.Root ref={root} value={shown.title ?? ""} onValueChange={(title) => setShown({ title })}>
      <Radix.List aria-label="Parts of this page" className="mb-6 flex gap-1 border-line border-b">
        {views.map(({ title }) => (
          <Radix.Trigger
            key={title}
            value={title}
            className="-mb-px border-transparent border-b-2 px-3 py-2 text-ink-soft text-sm -outline-offset-2 hover:text-ink data-[state=active]:border-accent data-[state=active]:text-ink"
          >
            {title}
          </Radix.Trigger>
        ))}
      </Radix.List>
      {views.map(({ title, content }) => (
        // Both are in the page, so that a link to a heading of the other one finds it.
        <Radix.Content
          key={title}
          value={title}
          data-view={title}
          className="prose"
          tabIndex={-1}
          forceMount
          hidden={title !== shown.title}
        >
          {content}
        </Radix.Content>
      ))}
    </Radix.Root>
  );
}
