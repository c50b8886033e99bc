"use client";

import { useEffect, useState } from "react";
import { fieldsOf } from "#lib/client/errors";
import { recall, remember } from "../portal/device-storage";
import type { PlayOperation, Values } from "./model";
import { shareable } from "./share";

const STORED_AS = "spotwire.playground.calls";
export const PAST_MAX_COUNT = 20;

/** A call made on this device. */
export interface PastCall {
  readonly operationId: string;
  readonly values: Values;
  /** Unix milliseconds by the clock of this device. */
  readonly at: number;
  /** Null when there was no answer. */
  readonly status: number | null;
}

const isText = (value: unknown): value is string => typeof value === "string";

/** The stored calls, without invalid entries: other code may write there too. */
export function readPastCalls(stored: unknown): readonly PastCall[] {
  if (!Array.isArray(stored)) return [];
  return stored.slice(0, PAST_MAX_COUNT).flatMap((entry): PastCall[] => {
    const { operationId, values, at, status } = fieldsOf(entry);
    if (!isText(operationId) || typeof at !== "number" || !Number.isFinite(at)) return [];
    const texts = Object.entries(fieldsOf(values)).filter((pair): pair is [string, string] => isText(pair[1]));
    return [{ operationId, values: Object.fromEntries(texts), at, status: typeof status === "number" ? status : null }];
  });
}

/** The last calls of this device, newest first. Neither keys nor answers are stored. */
export function usePastCalls() {
  const [calls, setCalls] = useState<readonly PastCall[]>([]);
  useEffect(() => setCalls(readPastCalls(recall(STORED_AS))), []);
  const change = (next: (before: readonly PastCall[]) => readonly PastCall[]) =>
    setCalls((before) => {
      const kept = next(before).slice(0, PAST_MAX_COUNT);
      // Without room for them, the page works all the same.
      remember(STORED_AS, kept);
      return kept;
    });
  return {
    calls,
    add(operation: PlayOperation, values: Values, status: number | null): void {
      const call = { operationId: operation.id, values: shareable(operation, values), at: Date.now(), status };
      const same = JSON.stringify([call.operationId, call.values]);
      change((before) => [call, ...before.filter((old) => JSON.stringify([old.operationId, old.values]) !== same)]);
    },
    clear: () => change(() => []),
  };
}
