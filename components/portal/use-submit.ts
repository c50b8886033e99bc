"use client";

import { type FormEvent, useState } from "react";
import type { ApiFailure, ApiResult } from "./api";

/** The state of a form: errors by field, and whether it is being sent. */
export interface Submission {
  readonly busy: boolean;
  /** The error of one field, undefined when it is valid. */
  errorOf(field: string): string | undefined;
  /** An error that belongs to none of the fields passed to `useSubmit`. */
  readonly failure: ApiFailure | undefined;
  onSubmit(event: FormEvent<HTMLFormElement>): void;
}

interface SubmitOptions<Data> {
  /** Names of the fields that show their own errors. */
  readonly fields: readonly string[];
  readonly send: (form: FormData) => Promise<ApiResult<Data>>;
  readonly done: (data: Data, form: HTMLFormElement) => void;
}

/** What an error says at its field, where its name is the label: the API begins with the name. */
function atField(detail: string): string {
  const rest = detail.replace(/^`[^`]+` /, "");
  return rest.charAt(0).toUpperCase() + rest.slice(1);
}

/** Sends a form, one request at a time, and shows each error at its field. */
export function useSubmit<Data>({ fields, send, done }: SubmitOptions<Data>): Submission {
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
    errorOf: (field) => (concerns(field) ? atField(failure?.detail ?? "") : undefined),
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
