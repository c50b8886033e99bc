"use client";

import { useRef, useState } from "react";
import { type Bearers, createBearers } from "../portal/bearers";
import type { Credential } from "../portal/credential";
import { type KeptAnswers, keepAnswer, NONE_KEPT } from "./kept-answers";
import type { Checked, PlayOperation, RestOperation, Start, Values } from "./model";
import { type Outcome, send } from "./send";
import { linkTo, startValues } from "./share";
import { useCheck } from "./use-check";
import { type PastCall, usePastCalls } from "./use-past-calls";

/** An outcome with the call it is of. */
interface Answered {
  readonly outcome: Outcome;
  readonly url: string;
  readonly credential: Credential;
}

/** The state of the whole page, and its actions. */
interface PlaygroundState {
  readonly operation: PlayOperation;
  readonly values: Values;
  readonly checked: Checked;
  readonly notices: readonly string[];
  readonly busy: boolean;
  /** The newest outcome of the current operation; undefined before its first call. */
  readonly answered: Answered | undefined;
  /** The answers of this page, to compare them. */
  readonly kept: KeptAnswers;
  readonly bearers: Bearers;
  readonly past: ReturnType<typeof usePastCalls>;
  choose(id: string): void;
  change(name: string, value: string): void;
  reopen(call: Pick<PastCall, "operationId" | "values">): void;
  /** Fills the form with a call that was imported. */
  take(operation: PlayOperation, values: Values, notices: readonly string[]): void;
  /** Sends a call: these values, at this URL. */
  run(operation: RestOperation, given: Values, url: string, credential: Credential): void;
}

/** The page's state: the form is kept in the URL, the key never is. */
export function usePlayground(operations: readonly [PlayOperation, ...PlayOperation[]], start: Start): PlaygroundState {
  const [operationId, setOperationId] = useState(start.operationId);
  const [forms, setForms] = useState<Readonly<Record<string, Values>>>({ [start.operationId]: start.values });
  const [outcomes, setOutcomes] = useState<Readonly<Record<string, Answered>>>({});
  const [kept, setKept] = useState(NONE_KEPT);
  const [imported, setImported] = useState<readonly string[]>([]);
  const [busy, setBusy] = useState(false);
  const [changed, setChanged] = useState(false);
  const [bearers] = useState(createBearers);
  const past = usePastCalls();
  const sent = useRef(0);
  const operation = operations.find(({ id }) => id === operationId) ?? operations[0];
  const values = forms[operation.id] ?? startValues(operation);
  const checked = useCheck(start.checked, operation.id, values, changed);

  function show(next: PlayOperation, given: Values): void {
    setChanged(true);
    setImported([]);
    setOperationId(next.id);
    setForms((before) => ({ ...before, [next.id]: given }));
    window.history.replaceState(null, "", linkTo(next, given));
  }

  return {
    operation,
    values,
    checked,
    notices: changed ? imported : start.notices,
    busy,
    answered: outcomes[operation.id],
    kept,
    bearers,
    past,
    choose(id) {
      const next = operations.find((one) => one.id === id);
      if (next !== undefined) show(next, forms[id] ?? startValues(next));
    },
    change: (name, value) => show(operation, { ...values, [name]: value }),
    reopen(call) {
      const next = operations.find(({ id }) => id === call.operationId);
      if (next !== undefined) show(next, { ...Object.fromEntries(next.fields.map(({ name }) => [name, ""])), ...call.values });
    },
    take(next, given, notices) {
      show(next, given);
      setImported(notices);
    },
    run(rest, given, url, credential) {
      sent.current += 1;
      const mine = sent.current;
      setBusy(true);
      void send(bearers, { method: rest.method, url, credential }).then((outcome) => {
        // A newer call is in flight, and only its response counts.
        if (mine !== sent.current) return;
        setBusy(false);
        const { answer } = outcome;
        const call = { operation: rest, values: given, at: Date.now() };
        if (answer !== undefined) setKept((before) => keepAnswer(before, call, answer));
        setOutcomes((before) => ({ ...before, [rest.id]: { outcome, url, credential } }));
        past.add(rest, given, outcome.answer?.status ?? null);
      });
    },
  };
}
