"use client";

import { type RefObject, useEffect, useRef, useState } from "react";

/** Whether an element was seen since the page opened, to load what it shows no earlier. */
interface Seen {
  readonly place: RefObject<HTMLDivElement | null>;
  readonly seen: boolean;
}

/**
 * True from the first time that the element was in the window.
 * @param ahead how close to the window counts as in it, as a CSS length
 */
export function useSeen(ahead = "0px"): Seen {
  const place = useRef<HTMLDivElement>(null);
  const [seen, setSeen] = useState(false);
  useEffect(() => {
    if (place.current === null) return;
    const observer = new IntersectionObserver(
      (entries) => {
        if (!entries.some(({ isIntersecting }) => isIntersecting)) return;
        setSeen(true);
        observer.disconnect();
      },
      { rootMargin: ahead },
    );
    observer.observe(place.current);
    return () => observer.disconnect();
  }, [ahead]);
  return { place, seen };
}
