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
  /** The id of the key that the link of the page names, or DEMO. */
  readonly linkedKey: string | undefined;
  /** The id of the key to begin with, unless the reader has chosen one. */
  readonly firstKey: string | undefined;
  /** That of the operation that the page begins with. */
  readonly scope: Scope | "any";
}

/** What there is to choose, if it is there; undefined otherwise. */
function choiceOf({ demoKey, keys }: Pick<ChoiceOptions, "demoKey" | "keys">, wanted: unknown): string | undefined {
  if (wanted === DEMO) return demoKey === undefined ? undefined : DEMO;
  return keys.find(({ id }) => id === wanted)?.id;
}

/** The last choice on this device, if it may still make the call; undefined otherwise. */
function lastChoice({ demoKey, keys, scope }: ChoiceOptions): string | undefined {
  const able = keys.filter(({ scopes }) => scope === "any" || scopes.includes(scope));
  return choiceOf({ demoKey, keys: able }, recall(STORED_AS));
}

/** The chosen key, as its id or DEMO: that of the link, else the one last chosen on this device, else the first. And how to choose another. */
export function useChosenKey(options: ChoiceOptions): readonly [string, (id: string) => void] {
  const { demoKey, keys, linkedKey, firstKey } = options;
  const linked = choiceOf(options, linkedKey);
  const [chosen, setChosen] = useState(linked ?? firstKey ?? (demoKey === undefined ? keys[0]?.id : undefined) ?? DEMO);
  const start = useRef(options).current;
  useEffect(() => {
    // The server does not know what this device stored.
    const last = lastChoice(start);
    if (choiceOf(start, start.linkedKey) === undefined && last !== undefined) setChosen(last);
  }, [start]);
  const choose = (id: string) => {
    setChosen(id);
    remember(STORED_AS, id);
  };
  return [chosen, choose];
}
