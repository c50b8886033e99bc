"use client";

import Link from "next/link";
import type { Scope } from "#lib/contract/primitives";
import type { Credential, OwnKey } from "../portal/credential";
import { sourceName } from "../portal/source-name";
import { Field } from "../ui/field";
import { Select } from "../ui/select";

/** Value of the demo key in the select; ids of keys are UUIDs. */
export const DEMO = "demo";

interface KeySelectProps {
  readonly demoKey: string | undefined;
  readonly keys: readonly OwnKey[];
  readonly signedIn: boolean;
  /** The slug of the live venue's provider; null where there is none. */
  readonly provider: string | null;
  readonly chosen: string;
  readonly scope: Scope | "any";
  readonly onChoose: (id: string) => void;
}

/** The credential of a choice; undefined when none is available. */
export function credentialOf({
  demoKey,
  keys,
  chosen,
}: Pick<KeySelectProps, "demoKey" | "keys" | "chosen">): Credential | undefined {
  const own = keys.find(({ id }) => id === chosen);
  if (own !== undefined) return { kind: "own", key: own };
  return demoKey === undefined ? undefined : { kind: "demo", key: demoKey };
}

function hintOf({ signedIn, provider, keys, chosen, scope }: KeySelectProps) {
  const own = keys.find(({ id }) => id === chosen);
  if (own !== undefined && scope !== "any" && !own.scopes.includes(scope))
    return `This key lacks the ${scope} scope, so the request will fail.`;
  const prices =
    own?.venue === "live" ? (provider === null ? "Live venue" : `Live prices from ${sourceName(provider)}`) : "Sandbox prices";
  if (own !== undefined) return `${prices}. Uses a 10-minute token; your key never reaches this page.`;
  const needs = provider === null ? "" : " Live prices need access that the operator grants.";
  if (!signedIn)
    return (
      <>
        Public key, sandbox prices.{needs}{" "}
        <Link prefetch={false} href="/signin?next=%2Fplayground" className="text-accent underline">
          Sign in
        </Link>{" "}
        to use your own.
      </>
    );
  return `Demo key: not counted for your account. Sandbox prices.${needs}`;
}

/** Selects the key of calls: the demo key, or one of the reader's own. */
export function KeySelect(props: KeySelectProps) {
  const { demoKey, keys, chosen, onChoose } = props;
  const demo = demoKey === undefined ? [] : [{ value: DEMO, label: "Demo key · sandbox" }];
  const own = keys.map(({ id, name, hint, venue }) => ({ value: id, label: `${name} · ${hint} · ${venue}` }));
  if (demo.length + own.length === 0)
    return (
      <p className="rounded-md border border-line border-dashed p-3 text-ink-soft text-sm leading-6">
        The demo key is disabled on this installation.{" "}
        <Link
          prefetch={false}
          href={props.signedIn ? "/dashboard/keys" : "/signin?next=%2Fplayground"}
          className="text-accent underline"
        >
          {props.signedIn ? "Create a key" : "Sign in"}
        </Link>{" "}
        to make calls.
      </p>
    );
  return (
    <Field label="Key" hint={hintOf(props)}>
      {(control) => <Select {...control} value={chosen} onChange={onChoose} options={[...demo, ...own]} />}
    </Field>
  );
}
