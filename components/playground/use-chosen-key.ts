import { useEffect, useRef, useState } from "react";
import type { Scope } from "#lib/contract/primitives";
import type { OwnKey } from "../portal/credential";
import { recall, remember } from "../portal/device-storage";
import { DEMO } from "./key-select";

/** Where this device keeps the choice: the id of a key, never its text. */
const STORED_AS = "spotwire.playground.key";

interface ChoiceOptions {
  readonly demoKey: string | undefined;
  readonly keys: readonly OwnKey[];
  /** The id of the key that the link of the page names. */
  readonly linkedKey: string | undefined;
  /** The id of the key to begin with, unless the reader has chosen one. */
  readonly firstKey: string | undefined;
  /** That of the operation that the page begins with. */
  readonly scope: Scope | "any";
}

const has = (keys: readonly OwnKey[], id: unknown) => keys.some((key) => key.id === id);

/** The last choice on this device, if it may still make the call; undefined otherwise. */
function lastChoice({ demoKey, keys, scope }: ChoiceOptions): string | undefined {
  const last = recall(STORED_AS);
  if (last === DEMO) return demoKey === undefined ? undefined : DEMO;
  return keys.find(({ id, scopes }) => id === last && (scope === "any" || scopes.includes(scope)))?.id;
}

/** The chosen key, as its id or DEMO: that of the link, else the one last chosen on this device, else the first. And how to choose another. */
export function useChosenKey(options: ChoiceOptions): readonly [string, (id: string) => void] {
  const { demoKey, keys, linkedKey, firstKey } = options;
  const [chosen, setChosen] = useState(() => {
    const asked = has(keys, linkedKey) ? linkedKey : firstKey;
    return asked ?? (demoKey === undefined ? keys[0]?.id : undefined) ?? DEMO;
  });
  const start = useRef(options).current;
  useEffect(() => {
    // The server does not know what this device stored.
    const last = has(start.keys, start.linkedKey) ? undefined : lastChoice(start);
    if (last !== undefined) setChosen(last);
  }, [start]);
  const choose = (id: string) => {
    setChosen(id);
    remember(STORED_AS, id);
  };
  return [chosen, choose];
}
