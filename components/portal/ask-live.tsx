"use client";

import { useRouter } from "next/navigation";
import { useEffect, useState } from "react";
import type { Overview } from "#lib/contract/portal";
import { SECOND_MS } from "#lib/units";
import { type ApiFailure, callPortal } from "./api";
import { usePortal } from "./read";
import { Instant } from "./time";

/**
 * A button within a text that asks the operators for live access. Once the account has asked, it shows when, or when the request was
 * declined. The decision is made elsewhere, so it reads again when the reader returns, and reloads the page once access is granted.
 */
export function AskLive() {
  const router = useRouter();
  const { data: overview, mutate } = usePortal<Overview>("overview", {
    revalidateOnFocus: true,
    focusThrottleInterval: SECOND_MS,
  });
  const [failure, setFailure] = useState<ApiFailure>();
  const { live_access: granted = false, live_asked_at: askedAt = null, live_declined: declined = null } = overview ?? {};
  useEffect(() => {
    if (granted) router.refresh();
  }, [granted, router]);
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
  const waits = declined !== null && Date.parse(declined.ask_again_at) > Date.now();
  return (
    <>
      {declined === null ? null : (
        <span role="status">
          Declined on <Instant at={declined.at} to="day" />.{" "}
        </span>
      )}
      {waits ? (
        <span>
          You can ask again from <Instant at={declined.ask_again_at} />.
        </span>
      ) : (
        <button type="button" onClick={() => void ask()} className="text-accent underline">
          {declined === null ? "Ask for live access" : "Ask again"}
        </button>
      )}
      <span role="alert">{failure === undefined ? "" : ` ${failure.detail}`}</span>
    </>
  );
}
