"use client";

import { useEffect, useState } from "react";
import { SERVICE_STATUS_PATH, type ServiceStatus } from "#lib/contract/service-status";

const POLL_MS = 10_000;
const TIMEOUT_MS = 8_000;

/** What is known of the service, and how the page came by it. */
export interface WatchedStatus {
  readonly status: ServiceStatus;
  /** Milliseconds the last answer took from here; null before the page asked. */
  readonly tookMs: number | null;
  /** Why the last question got no answer; undefined when it got one. */
  readonly trouble: "offline" | "unanswered" | undefined;
  /** How far the service's clock is ahead of this one, milliseconds. */
  readonly aheadMs: number;
}

async function ask(): Promise<{ status: ServiceStatus; tookMs: number }> {
  const startMs = performance.now();
  const response = await fetch(SERVICE_STATUS_PATH, { cache: "no-store", signal: AbortSignal.timeout(TIMEOUT_MS) });
  if (!response.ok) throw new Error(`${SERVICE_STATUS_PATH} answered ${response.status}.`);
  return { status: await response.json(), tookMs: performance.now() - startMs };
}

/** The first instant after `at_ms` at which a calendar turns; the page asks again then. */
function nextTurn({ at_ms, venues }: ServiceStatus): number {
  const turns = venues.flatMap(({ groups }) =>
    groups.flatMap(({ next_open_ms, next_close_ms }) => [next_open_ms, next_close_ms]),
  );
  return Math.min(...turns.filter((turn) => turn !== null && turn > at_ms).map(Number));
}

/** Asks how the service is while the page is seen: every ten seconds, and whenever a market opens or closes. */
export function useStatus(first: ServiceStatus): WatchedStatus {
  const [watched, setWatched] = useState<WatchedStatus>({ status: first, tookMs: null, trouble: undefined, aheadMs: 0 });
  useEffect(() => {
    let ended = false;
    let asking = false;
    let timer: ReturnType<typeof setTimeout> | undefined;
    async function look(): Promise<void> {
      if (ended || asking || document.hidden) return;
      asking = true;
      clearTimeout(timer);
      let waitMs = POLL_MS;
      try {
        const { status, tookMs } = await ask();
        if (ended) return;
        setWatched({ status, tookMs, trouble: undefined, aheadMs: status.at_ms - Date.now() });
        waitMs = Math.min(waitMs, Math.max(1_000, nextTurn(status) - status.at_ms));
      } catch {
        if (ended) return;
        const trouble = navigator.onLine ? "unanswered" : "offline";
        setWatched((before) => ({ ...before, tookMs: null, trouble }));
      }
      asking = false;
      timer = setTimeout(look, waitMs);
    }
    const onWake = () => void look();
    const events = [
      [document, "visibilitychange"],
      [window, "online"],
      [window, "offline"],
    ] as const;
    for (const [target, name] of events) target.addEventListener(name, onWake);
    void look();
    return () => {
      ended = true;
      clearTimeout(timer);
      for (const [target, name] of events) target.removeEventListener(name, onWake);
    };
  }, []);
  return watched;
}
