"use client";

import { useEffect, useState } from "react";
import type { Checked, Values } from "./model";

/** Nothing is known of the values. The service itself checks them when the call is sent. */
export const UNCHECKED: Checked = { issues: {} };

/** Checks the values as they change; the schemas are loaded with the first change, not with the page. */
export function useCheck(first: Checked, operationId: string, values: Values, changed: boolean): Checked {
  const [checked, setChecked] = useState(first);
  useEffect(() => {
    if (!changed) return;
    let overtaken = false;
    void import("./load-check").then(
      ({ checkValues }) => overtaken || setChecked(checkValues(operationId, values)),
      () => overtaken || setChecked(UNCHECKED),
    );
    return () => {
      overtaken = true;
    };
  }, [operationId, values, changed]);
  return checked;
}
