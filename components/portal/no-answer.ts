"use client";

import { useSyncExternalStore } from "react";

/**
 * Why a request got no usable answer: no network, nothing within the time limit, a connection that failed, or an answer that is an
 * error of the service or of a proxy before it.
 */
export type NoAnswer = "offline" | "timeout" | "unreachable" | "failed";

/** What happened and what to do next, one sentence each. */
export const NO_ANSWER: Readonly<Record<NoAnswer, { readonly says: string; readonly next: string }>> = {
  offline: { says: "You're offline.", next: "Connect to a network, then try again." },
  timeout: { says: "The service took too long to respond.", next: "It may be overloaded. Try again in a moment." },
  failed: { says: "The service returned an error.", next: "The connection works. Try again in a moment." },
  unreachable: { says: "Can't reach the service.", next: "Check your connection, then try again." },
};

/** Why a request that just failed got no usable answer; `answered` when something did answer. */
export function noAnswerOf({ timedOut = false, answered = false } = {}): NoAnswer {
  if (answered) return "failed";
  if (!navigator.onLine) return "offline";
  return timedOut ? "timeout" : "unreachable";
}

function onNetworkChange(listener: () => void): () => void {
  window.addEventListener("online", listener);
  window.addEventListener("offline", listener);
  return () => {
    window.removeEventListener("online", listener);
    window.removeEventListener("offline", listener);
  };
}

/** False while the browser has no network; true on the server. */
export function useOnline(): boolean {
  return useSyncExternalStore(
    onNetworkChange,
    () => navigator.onLine,
    () => true,
  );
}
