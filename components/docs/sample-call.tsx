"use client";

import { createContext, type ReactNode, useContext, useMemo, useState } from "react";
import { CopyButton } from "../ui/copy-button";

interface SampleCallState {
  /** Path and query as the samples of the page were printed with; empty on a page without a form. */
  readonly printed: string;
  /** Path and query of the form. */
  readonly url: string;
  readonly show: (url: string) => void;
}

const Context = createContext<SampleCallState>({ printed: "", url: "", show: () => undefined });

/** Lets the samples of a page follow its form. Without scripts they show the call they were printed with. */
export function SampleCall({ printed, children }: { printed: string; children: ReactNode }) {
  const [url, show] = useState(printed);
  const value = useMemo(() => ({ printed, url, show }), [printed, url]);
  return <Context value={value}>{children}</Context>;
}

/** Puts the call of the form, as path and query, into the samples of the page. */
export function useShowCall(): (url: string) => void {
  return useContext(Context).show;
}

// A sample depends on its parameters by their address alone, which is what the generator's tests promise.
function useFollowing(text: string): string {
  const { printed, url } = useContext(Context);
  return printed === "" ? text : text.replaceAll(printed, () => url);
}

/** A text of a sample, with the call of the form. */
export function FollowingText({ text }: { text: string }) {
  return useFollowing(text);
}

/** Copies a sample with the call of the form. */
export function FollowingCopyButton({ text, className }: { text: string; className: string }) {
  return <CopyButton text={useFollowing(text)} className={className} />;
}
