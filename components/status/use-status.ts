"use client";

import { useState } from "react";
import useSWR from "swr";
import { SERVICE_STATUS_PATH, type ServiceStatus } from "#lib/contract/service-status";
import { SECOND_MS } from "#lib/units";
import { type NoAnswer, noAnswerOf, useOnline } from "../portal/no-answer";
import { polling } from "../portal/polling";
import { useNow } from "../portal/time";

/** Pause between two requests. */
export const STATUS_POLL_MS = 10 * SECOND_MS;
const TIMEOUT_MS = 8 * SECOND_MS;

interface Answer {
  readonly status: ServiceStatus;
  readonly tookMs: number;
  readonly aheadMs: number;
}

/** What the page knows about the service, and how it got there. */
export interface WatchedStatus {
  readonly status: ServiceStatus;
  /** Round-trip time of the last request, in milliseconds; null before the first. */
  readonly tookMs: number | null;
  /** Why the last request got no answer; undefined when it got one. */
  readonly trouble: NoAnswer | undefined;
  /** How far the service's clock is ahead of this one, in milliseconds. */
  readonly aheadMs: number;
}

/** Why a read failed. */
class StatusFailure extends Error {
  constructor(readonly why: NoAnswer) {
    super(why);
  }
}

/** Reads the state of the service. @throws StatusFailure */
async function readStatus(): Promise<Answer> {
  const startMs = performance.now();
  const signal = AbortSignal.timeout(TIMEOUT_MS);
  const response = await fetch(SERVICE_STATUS_PATH, { cache: "no-store", signal }).catch(() => {
    throw new StatusFailure(noAnswerOf({ timedOut: signal.aborted }));
  });
  const status: ServiceStatus | undefined = response.ok ? await response.json().catch(() => undefined) : undefined;
  if (status === undefined) throw new StatusFailure(noAnswerOf({ answered: true }));
  return { status, tookMs: performance.now() - startMs, aheadMs: status.at_ms - Date.now() };
}

/** Milliseconds until the next request: fewer when a market opens or closes before then. */
function pauseAfter({ at_ms, venues }: ServiceStatus): number {
  const turns = venues.flatMap(({ groups }) =>
    groups.flatMap(({ next_open_ms, next_close_ms }) => [next_open_ms, next_close_ms]),
  );
  const next = Math.min(...turns.filter((turn) => turn !== null && turn > at_ms).map(Number));
  return Math.min(STATUS_POLL_MS, Math.max(SECOND_MS, next - at_ms));
}

/** The service's time, by the second; until the page runs, the time of what was rendered with it. */
export function useServiceNow({ status, aheadMs }: WatchedStatus): number {
  const now = useNow();
  return now === null ? status.at_ms : now + aheadMs;
}

/** The state of the service: as rendered with the page, then read again while the page is visible. */
export function useStatus(first: ServiceStatus): WatchedStatus {
  const online = useOnline();
  const [pauseMs, setPauseMs] = useState(() => pauseAfter(first));
  const { data, error } = useSWR<Answer, StatusFailure>(SERVICE_STATUS_PATH, readStatus, {
    ...polling(pauseMs),
    onSuccess: ({ status }) => setPauseMs(pauseAfter(status)),
  });
  const trouble = !online ? "offline" : error?.why;
  // An answer from an earlier visit is older than the page.
  const latest = data !== undefined && data.status.at_ms >= first.at_ms ? data : undefined;
  return {
    status: latest?.status ?? first,
    tookMs: trouble === undefined && latest !== undefined ? latest.tookMs : null,
    trouble,
    aheadMs: latest?.aheadMs ?? 0,
  };
}
