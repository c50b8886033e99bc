"use client";

import { type FocusEvent, type FormEvent, useRef, useState } from "react";
import type { ApiFailure, ApiResult } from "./api";
import type { FormName } from "./form-check";

/** The state of a form: errors by field, and whether it is being sent. */
export interface Submission {
  readonly busy: boolean;
  /** The error of one field, undefined when it is valid. */
  errorOf(field: string): string | undefined;
  /** An error that belongs to none of the fields passed to `useSubmit`. */
  readonly failure: ApiFailure | undefined;
  /** Props of the `<form>`: it is sent by this hook, a field is checked when the reader leaves it, and what was said is forgotten once it changes. */
  readonly formProps: {
    onSubmit(event: FormEvent<HTMLFormElement>): void;
    onBlur(event: FocusEvent<HTMLFormElement>): void;
    onInput(event: FormEvent<HTMLFormElement>): void;
  };
}

interface SubmitOptions<Data> {
  /** Names of the fields that show their own errors. */
  readonly fields: readonly string[];
  /** Whose schema checks the fields that the reader left; without it, only the service checks, once the form is sent. */
  readonly form?: FormName | undefined;
  /** What is checked: the fields as text, unless the form has lists or choices. */
  readonly bodyOf?: ((form: FormData) => Readonly<Record<string, unknown>>) | undefined;
  readonly send: (form: FormData) => Promise<ApiResult<Data>>;
  readonly done: (data: Data, form: HTMLFormElement) => void;
}

/** What an error says at its field, where its name is the label: the API begins with the name. */
export function atField(detail: string): string {
  const rest = detail.replace(/^`[^`]+` /, "");
  return rest.charAt(0).toUpperCase() + rest.slice(1);
}

/** React passes events on from a dialog to the form that opened it. */
const isOwn = ({ target, currentTarget }: FormEvent<HTMLFormElement>) =>
  target === currentTarget || (target as Partial<HTMLInputElement>).form === currentTarget;

/** What is said about fields while a form is filled in, with the schemas of the contract, which load with the first check. */
function useFieldIssues({ form, bodyOf }: Pick<SubmitOptions<never>, "form" | "bodyOf">) {
  const [issues, setIssues] = useState<Readonly<Record<string, string | undefined>>>({});
  /** Fields that were left since they changed last. Each is checked again with the next, because some depend on others. */
  const left = useRef(new Set<string>());

  async function check(element: HTMLFormElement): Promise<void> {
    if (form === undefined) return;
    // Without an answer the service checks it, as it does anyway.
    const { formIssues } = await import("./form-check").catch(() => ({ formIssues: undefined }));
    const data = new FormData(element);
    const found = formIssues?.(form, bodyOf?.(data) ?? Object.fromEntries(data)) ?? {};
    setIssues(Object.fromEntries([...left.current].map((name) => [name, found[name]])));
  }

  return {
    issueOf: (name: string) => issues[name],
    onBlur(event: FocusEvent<HTMLFormElement>) {
      const { name = "", value = "" } = event.target as unknown as Partial<HTMLInputElement>;
      // One that is empty is no mistake before the form is sent.
      if (!isOwn(event) || name === "" || value.trim() === "") return;
      left.current.add(name);
      void check(event.currentTarget);
    },
    onInput(event: FormEvent<HTMLFormElement>) {
      const { name = "" } = event.target as Partial<HTMLInputElement>;
      if (!isOwn(event)) return;
      left.current.delete(name);
      setIssues((before) => (before[name] === undefined ? before : { ...before, [name]: undefined }));
    },
  };
}

/** Sends a form, one request at a time, and shows each error at its field. */
export function useSubmit<Data>({ fields, form: formName, bodyOf, send, done }: SubmitOptions<Data>): Submission {
  const { issueOf, onBlur, onInput } = useFieldIssues({ form: formName, bodyOf });
  const [busy, setBusy] = useState(false);
  const [failure, setFailure] = useState<ApiFailure>();
  const concerns = (field: string) => failure !== undefined && failure.parameter === field;

  async function submit(form: HTMLFormElement): Promise<void> {
    setBusy(true);
    setFailure(undefined);
    const result = await send(new FormData(form));
    setBusy(false);
    if ("data" in result) return done(result.data, form);
    setFailure(result.failure);
    const field = result.failure.parameter;
    if (field !== null) form.querySelector<HTMLElement>(`[name="${CSS.escape(field)}"]`)?.focus();
  }

  return {
    busy,
    errorOf: (field) => {
      const detail = issueOf(field) ?? (concerns(field) ? failure?.detail : undefined);
      return detail === undefined ? undefined : atField(detail);
    },
    failure: failure !== undefined && fields.some(concerns) ? undefined : failure,
    formProps: {
      onBlur,
      onInput,
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
