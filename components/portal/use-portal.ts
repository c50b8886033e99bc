"use client";

import { useCallback, useEffect, useState } from "react";
import { type ApiFailure, type ApiResult, callPortal } from "./api";

/** Something read from the portal: its data once there are some, or why there are none. */
export interface Resource<Data> {
  readonly data: Data | undefined;
  readonly failure: ApiFailure | undefined;
  reload(): void;
}

type Loaded<Data> = { readonly path: string; readonly result: ApiResult<Data> };

/** Someone whose session has ended is led back here after signing in again. */
function leaveForSignIn(): void {
  window.location.assign(`/signin?next=${encodeURIComponent(window.location.pathname + window.location.search)}`);
}

/**
 * Reads a path of the portal, and again whenever it changes; an answer that was overtaken is dropped.
 * @param initial what the page was made with, shown without asking; only the first path may have it
 */
export function usePortal<Data>(path: string, initial?: Data): Resource<Data> {
  const [loaded, setLoaded] = useState<Loaded<Data> | undefined>(
    initial === undefined ? undefined : { path, result: { data: initial } },
  );
  const [round, setRound] = useState(0);
  const [known] = useState(initial === undefined ? undefined : path);

  useEffect(() => {
    if (round === 0 && known === path) return;
    let overtaken = false;
    void callPortal<Data>("GET", path).then((result) => {
      if (overtaken) return;
      if ("failure" in result && result.failure.id === "unauthorized") return leaveForSignIn();
      setLoaded({ path, result });
    });
    return () => {
      overtaken = true;
    };
  }, [path, round, known]);

  const reload = useCallback(() => setRound((before) => before + 1), []);
  const current = loaded?.path === path ? loaded.result : undefined;
  return {
    data: current !== undefined && "data" in current ? current.data : undefined,
    failure: current !== undefined && "failure" in current ? current.failure : undefined,
    reload,
  };
}
