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
  onSubmit(event: FormEvent<HTMLFormElement>): void;
  /** Checks the field that the reader leaves. */
  onBlur(event: FocusEvent<HTMLFormElement>): void;
  /** Forgets what was said about a field that changes. */
  onInput(event: FormEvent<HTMLFormElement>): void;
}

interface SubmitOptions<Data> {
  /** Names of the fields that show their own errors. */
  readonly fields: readonly string[];
  /** Whose schema checks a field when the reader leaves it; without it, only the service checks, once the form is sent. */
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

/** The value of a field that the reader leaves; null for one that is empty, which is no mistake before the form is sent. */
function leftField({ target }: FocusEvent<HTMLFormElement>): { name: string; value: string } | null {
  const { name = "", value = "" } = target as unknown as Partial<HTMLInputElement>;
  return name === "" || value.trim() === "" ? null : { name, value };
}

/** What is said about fields while a form is filled in, with the schemas of the contract, which load with the first check. */
function useFieldIssues({ form, bodyOf }: Pick<SubmitOptions<never>, "form" | "bodyOf">) {
  const [issues, setIssues] = useState<Readonly<Record<string, string | undefined>>>({});
  const latest = useRef(new Map<string, string>());

  async function check(name: string, element: HTMLFormElement): Promise<void> {
    if (form === undefined) return;
    const data = new FormData(element);
    const body = bodyOf?.(data) ?? { [name]: textOf(data, name) };
    // Without an answer the service checks it, as it does anyway.
    const { fieldIssue } = await import("./form-check").catch(() => ({ fieldIssue: undefined }));
    if (latest.current.get(name) !== textOf(data, name)) return;
    setIssues((before) => ({ ...before, [name]: fieldIssue?.(form, name, body) }));
  }

  return {
    issueOf: (name: string) => issues[name],
    onBlur(event: FocusEvent<HTMLFormElement>) {
      const left = leftField(event);
      if (left === null) return;
      latest.current.set(left.name, left.value);
      void check(left.name, event.currentTarget);
    },
    onInput({ target }: FormEvent<HTMLFormElement>) {
      const { name = "" } = target as Partial<HTMLInputElement>;
      latest.current.delete(name);
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

  async function submit(form: HTMLFormElement, button: HTMLElement | null): Promise<void> {
    setBusy(true);
    setFailure(undefined);
    const result = await send(new FormData(form));
    setBusy(false);
    if ("data" in result) return done(result.data, form);
    setFailure(result.failure);
    const field = result.failure.parameter;
    const control = field === null ? null : form.querySelector<HTMLElement>(`[name="${CSS.escape(field)}"]`);
    if (control !== null) return control.focus();
    // A button loses the focus while it is disabled.
    requestAnimationFrame(() => document.activeElement === document.body && button?.focus());
  }

  return {
    busy,
    errorOf: (field) => {
      const detail = issueOf(field) ?? (concerns(field) ? failure?.detail : undefined);
      return detail === undefined ? undefined : atField(detail);
    },
    onBlur,
    onInput,
    failure: failure !== undefined && fields.some(concerns) ? undefined : failure,
    onSubmit(event) {
      event.preventDefault();
      if (!busy) void submit(event.currentTarget, (event.nativeEvent as SubmitEvent).submitter);
    },
  };
}

/** A field of a form as text. */
export function textOf(form: FormData, name: string): string {
  const value = form.get(name);
  return typeof value === "string" ? value : "";
}
