"use client";

import { useState } from "react";
import type { Overview } from "#lib/contract/portal";
import { type ApiFailure, callPortal } from "./api";
import { usePortal } from "./read";
import { Instant } from "./time";

/** Asks the operators for live access of the reader's account, within a text; then says since when they are asked. */
export function AskLive() {
  const { data: overview, mutate } = usePortal<Overview>("overview");
  const [failure, setFailure] = useState<ApiFailure>();
  const askedAt = overview?.live_asked_at ?? null;
  if (askedAt !== null)
    return (
      <span role="status">
        You asked on <Instant at={askedAt} />; an operator decides.
      </span>
    );
  const ask = async () => {
    const result = await callPortal("POST", "organisation/live-access");
    setFailure("failure" in result ? result.failure : undefined);
    await mutate();
  };
  return (
    <>
      <button type="button" onClick={() => void ask()} className="text-accent underline">
        Ask for live access
      </button>
      <span role="alert">{failure === undefined ? "" : ` ${failure.detail}`}</span>
    </>
  );
}
