"use client";

import { useCallback, useEffect, useRef } from "react";

/** Rows this close to the window count as shown, so that they are live when they come in. */
const AHEAD = "96px";

/**
 * Reports which rows are in view, in the order of the page, whenever that changes. Only those need live prices.
 * @returns registers the element of a row until the function it returns is called
 */
export function useShownRows(onShown: (tickers: readonly string[]) => void): (ticker: string, element: Element) => () => void {
  const observer = useRef<IntersectionObserver>(undefined);
  const tickers = useRef(new Map<Element, string>());
  const shown = useRef(new Set<Element>());
  const report = useRef(onShown);
  report.current = onShown;
  useEffect(() => () => observer.current?.disconnect(), []);

  return useCallback((ticker, element) => {
    const tell = () => {
      const inOrder = [...shown.current].sort((a, b) => a.getBoundingClientRect().top - b.getBoundingClientRect().top);
      report.current(inOrder.flatMap((one) => tickers.current.get(one) ?? []));
    };
    observer.current ??= new IntersectionObserver(
      (entries) => {
        for (const { isIntersecting, target } of entries) {
          if (isIntersecting) shown.current.add(target);
          else shown.current.delete(target);
        }
        tell();
      },
      { rootMargin: AHEAD },
    );
    tickers.current.set(element, ticker);
    observer.current.observe(element);
    return () => {
      observer.current?.unobserve(element);
      tickers.current.delete(element);
      shown.current.delete(element);
    };
  }, []);
}
