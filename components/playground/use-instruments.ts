"use client";

import { useCallback, useRef, useState } from "react";
import { fieldsOf } from "#lib/client/errors";
import type { Instrument } from "#lib/contract/instrument";
import type { Bearers } from "./credential";
import type { Credential } from "./model";
import { send } from "./send";

/** The instruments of the chosen key, asked for when a field first wants them; a key that fails may be asked again. */
export function useInstruments(bearers: Bearers, path: string, credential: Credential | undefined) {
  const owner = credential === undefined ? undefined : credential.kind === "demo" ? "demo" : credential.key.id;
  const [loaded, setLoaded] = useState<Readonly<Record<string, readonly Instrument[]>>>({});
  const asked = useRef(new Set<string>());
  const want = useCallback(() => {
    if (credential === undefined || owner === undefined || asked.current.has(owner)) return;
    asked.current.add(owner);
    void send(bearers, { method: "GET", url: path, credential }).then(({ answer, trouble }) => {
      const { items } = fieldsOf(fieldsOf(answer?.body).data);
      if (trouble !== undefined || !Array.isArray(items)) asked.current.delete(owner);
      else setLoaded((before) => ({ ...before, [owner]: items as readonly Instrument[] }));
    });
  }, [bearers, path, credential, owner]);
  return { instruments: owner === undefined ? undefined : loaded[owner], want };
}
