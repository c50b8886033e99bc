"use client";

import * as Radix from "@radix-ui/react-tabs";
import { type ReactNode, useEffect, useRef, useState } from "react";
import { TabList } from "../ui/tabs";

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
      // Not decoded: headings have ASCII ids, and a link may hold anything.
      const heading = document.getElementById(window.location.hash.slice(1));
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
      <div className="mb-6">
        <TabList label="Parts of this page" tabs={views.map(({ title }) => ({ value: title, label: title }))} />
      </div>
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
