"use client";

import { useEffect, useState } from "react";
import type { Issues, Values } from "./model";

/** Checks the values as they change; the schemas are loaded with the first change, not with the page. */
export function useIssues(first: Issues, operationId: string, values: Values, changed: boolean): Issues {
  const [issues, setIssues] = useState(first);
  useEffect(() => {
    if (!changed) return;
    let overtaken = false;
    void import("./load-check").then(
      ({ issuesOf }) => overtaken || setIssues(issuesOf(operationId, values)),
      // Without them the service itself checks the values, when the call is sent.
      () => overtaken || setIssues({}),
    );
    return () => {
      overtaken = true;
    };
  }, [operationId, values, changed]);
  return issues;
}
