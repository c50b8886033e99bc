"use client";

import { useEffect, useState } from "react";
import { type ApiFailure, callPortal } from "../portal/api";

/** The newest answer and the one before it; a failure stands beside what is known, not in its place. */
interface Polled<Data> {
  readonly data: Data | undefined;
  readonly before: Data | undefined;
  readonly failure: ApiFailure | undefined;
}

/** Reads a path over and over while the page is seen, `pauseMs` after each answer. */
export function usePolled<Data>(path: string, pauseMs: number): Polled<Data> {
  const [polled, setPolled] = useState<Polled<Data>>({ data: undefined, before: undefined, failure: undefined });
  useEffect(() => {
    let ended = false;
    let asking = false;
    let timer: ReturnType<typeof setTimeout> | undefined;
    async function ask(): Promise<void> {
      if (asking || ended || document.hidden) return;
      asking = true;
      clearTimeout(timer);
      const result = await callPortal<Data>("GET", path);
      asking = false;
      if (ended) return;
      setPolled(({ data, before }) =>
        "data" in result ? { data: result.data, before: data, failure: undefined } : { data, before, failure: result.failure },
      );
      timer = setTimeout(ask, pauseMs);
    }
    const onVisible = () => void ask();
    document.addEventListener("visibilitychange", onVisible);
    void ask();
    return () => {
      ended = true;
      clearTimeout(timer);
      document.removeEventListener("visibilitychange", onVisible);
    };
  }, [path, pauseMs]);
  return polled;
}
