"use client";

import { type FocusEvent, type FormEvent, useEffect, useRef, useState } from "react";
import { flushSync } from "react-dom";
import type { ApiFailure, ApiResult } from "./api";
import type { FormName } from "./form-check";
import { plainText } from "./plain-text";

/** The state of a form: errors by field, and whether it is being sent. */
export interface Submission {
  readonly busy: boolean;
  /** The error of one field, undefined when it is valid. */
  errorOf(field: string): string | undefined;
  /** An error that belongs to none of the fields passed to `useSubmit`. */
  readonly failure: ApiFailure | undefined;
  /**
   * Props of the `<form>`: it is sent by this hook once all of its fields are right, a field is checked when the reader leaves it, and what
   * was said is forgotten once it changes. The browser's own bubbles are off: they speak another language, of one field at a time.
   */
  readonly formProps: {
    readonly noValidate: true;
    onSubmit(event: FormEvent<HTMLFormElement>): void;
    onBlur(event: FocusEvent<HTMLFormElement>): void;
    onInput(event: FormEvent<HTMLFormElement>): void;
  };
}

interface SubmitOptions<Data> {
  /** Names of the fields that show their own errors. */
  readonly fields: readonly string[];
  /** Whose schema checks the fields; without it, only what a field requires is checked before the service does. */
  readonly form?: FormName | undefined;
  /** What is checked: the fields as text, unless the form has lists or choices. */
  readonly bodyOf?: ((form: FormData) => Readonly<Record<string, unknown>>) | undefined;
  readonly send: (form: FormData) => Promise<ApiResult<Data>>;
  readonly done: (data: Data, form: HTMLFormElement) => void;
}

/** What an error says at its field, whose label stands there: the API begins with the name. Of a list, it names the entry. */
export function atField(detail: string, field: string): string {
  const text = plainText(detail);
  const [begin, place = ""] = new RegExp(`^${field}([[.]\\S*)? `).exec(text) ?? [""];
  const entry = /^\[(\d+)\]$/.exec(place)?.[1];
  const rest = `${entry === undefined ? "" : `entry ${Number(entry) + 1} `}${text.slice(begin.length)}`;
  return rest.charAt(0).toUpperCase() + rest.slice(1);
}

/** Refuses what was entered in a field, in a form that this page takes by itself. */
export function refused(parameter: string, detail: string): { readonly failure: ApiFailure } {
  return { failure: { id: "invalid_parameter", detail, parameter, requestId: null } };
}

/** React passes events on from a dialog to the form that opened it. */
const isOwn = ({ target, currentTarget }: FormEvent<HTMLFormElement>) =>
  target === currentTarget || (target as Partial<HTMLInputElement>).form === currentTarget;

const controlsOf = (form: HTMLFormElement) => [...form.elements] as HTMLInputElement[];

/**
 * Waits until the pointer that is down, if one is, has clicked what it was pressed on: a line that appeared before would move that away
 * from under it, and the click would be lost.
 */
function useClicked(): () => Promise<void> {
  const press = useRef<Promise<void>>(undefined);
  useEffect(() => {
    const listening = new AbortController();
    const options = { capture: true, signal: listening.signal };
    let end = () => {};
    const onUp = () => end();
    function onDown({ target }: PointerEvent): void {
      end();
      // The list of choices that it opens may get the pointerup.
      if (target instanceof HTMLSelectElement) return;
      press.current = new Promise((resolve) => {
        end = resolve;
      });
    }
    window.addEventListener("pointerdown", onDown, options);
    window.addEventListener("pointerup", onUp, options);
    window.addEventListener("pointercancel", onUp, options);
    return () => {
      listening.abort();
      end();
    };
  }, []);
  return async () => {
    await press.current;
    // The click comes in the task of the pointerup, as all events of a tap come in one.
    await new Promise((resolve) => setTimeout(resolve));
  };
}

type FieldOptions = Pick<SubmitOptions<never>, "fields" | "form" | "bodyOf">;

/** What is said about fields while a form is filled in and before it is sent, with the schemas of the contract, which load with the first check. */
function useFieldIssues({ fields, form, bodyOf }: FieldOptions) {
  const [issues, setIssues] = useState<Readonly<Record<string, string | undefined>>>({});
  /** Fields that were checked since they changed last. Each is checked again with the next, because some depend on others. */
  const told = useRef(new Set<string>());
  const clicked = useClicked();

  async function issuesOf(element: HTMLFormElement): Promise<Readonly<Record<string, string>>> {
    // Without an answer the service checks it, as it does anyway.
    const check = await import("./form-check").catch(() => undefined);
    return check?.issuesOf(element, form, bodyOf) ?? {};
  }

  async function checkAgain(element: HTMLFormElement): Promise<void> {
    const found = await issuesOf(element);
    await clicked();
    setIssues(Object.fromEntries([...told.current].map((name) => [name, found[name]])));
  }

  return {
    issueOf: (name: string) => issues[name],
    /** Checks every field, and shows what is wrong. Resolves with the names of the wrong ones. */
    async checkAll(element: HTMLFormElement): Promise<ReadonlySet<string>> {
      // Nothing to say where nothing is asked.
      if (fields.length === 0) return new Set();
      const found = await issuesOf(element);
      const shown = controlsOf(element).map(({ name }) => name);
      told.current = new Set(shown.filter((name) => found[name] !== undefined && fields.includes(name)));
      // At once, so that screen readers say it with the field that gets the focus.
      flushSync(() => setIssues(Object.fromEntries([...told.current].map((name) => [name, found[name]]))));
      return new Set(told.current);
    },
    onBlur(event: FocusEvent<HTMLFormElement>) {
      const { name = "", value = "", validity } = event.target as unknown as Partial<HTMLInputElement>;
      // One that is empty is no mistake before the form is sent; half a date is one, and has no value.
      if (!isOwn(event) || name === "" || (value.trim() === "" && validity?.badInput !== true)) return;
      told.current.add(name);
      void checkAgain(event.currentTarget);
    },
    onInput(event: FormEvent<HTMLFormElement>) {
      const { name = "" } = event.target as Partial<HTMLInputElement>;
      if (!isOwn(event)) return;
      told.current.delete(name);
      setIssues((before) => (before[name] === undefined ? before : { ...before, [name]: undefined }));
    },
  };
}

/** Checks a form and sends it, one request at a time, and shows each error at its field. The first wrong field gets the focus. */
export function useSubmit<Data>({ fields, form: formName, bodyOf, send, done }: SubmitOptions<Data>): Submission {
  const { issueOf, checkAll, onBlur, onInput } = useFieldIssues({ fields, form: formName, bodyOf });
  const [busy, setBusy] = useState(false);
  const [failure, setFailure] = useState<ApiFailure>();
  const concerns = (field: string) => failure !== undefined && failure.parameter === field;

  async function submit(form: HTMLFormElement): Promise<void> {
    setBusy(true);
    setFailure(undefined);
    const wrong = await checkAll(form);
    const result = wrong.size > 0 ? undefined : await send(new FormData(form));
    const refusal = result !== undefined && "failure" in result ? result.failure : undefined;
    flushSync(() => {
      setBusy(false);
      setFailure(refusal);
    });
    if (result !== undefined && "data" in result) return done(result.data, form);
    const field = refusal?.parameter ?? "";
    const first = controlsOf(form).find(({ name }) => name !== "" && (wrong.has(name) || name === field));
    // What is folded away cannot have the focus.
    first?.closest("details")?.setAttribute("open", "");
    first?.focus();
  }

  return {
    busy,
    errorOf: (field) => {
      const detail = issueOf(field) ?? (concerns(field) ? failure?.detail : undefined);
      return detail === undefined ? undefined : atField(detail, field);
    },
    failure: failure !== undefined && fields.some(concerns) ? undefined : failure,
    formProps: {
      noValidate: true,
      onBlur,
      onInput(event) {
        onInput(event);
        // What the service refused was what was sent.
        const { name } = event.target as Partial<HTMLInputElement>;
        if (isOwn(event) && name !== undefined) setFailure((before) => (before?.parameter === name ? undefined : before));
      },
      onSubmit(event) {
        if (!isOwn(event)) return;
        event.preventDefault();
        if (!busy) void submit(event.currentTarget);
      },
    },
  };
}

/** A field of a form as text. */
export function textOf(form: FormData, name: string): string {
  const value = form.get(name);
  return typeof value === "string" ? value : "";
}

/** A field of a form as a number: null if it is empty, and a text that is no number as it is, for its schema to refuse. */
export function numberOf(form: FormData, name: string): number | string | null {
  const text = textOf(form, name).trim();
  if (text === "") return null;
  return Number.isNaN(Number(text)) ? text : Number(text);
}
