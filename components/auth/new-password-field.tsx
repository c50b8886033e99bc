"use client";

import { type ChangeEvent, useEffect, useRef, useState } from "react";
import type { PasswordRating } from "#lib/contract/portal";
import { callPortal } from "../portal/api";
import { textOf } from "../portal/use-submit";
import { PasswordField } from "../ui/password-field";

/** A password is rated when nothing was typed for so long. */
const PAUSE_MS = 400;
/** The wait before another try, and the number of tries, while the service rates too many passwords at once. */
const AGAIN_MS = 2_000;
const TRIES_MAX_COUNT = 10;
/** Bars of the meter; the best score lights all. */
const BARS = [1, 2, 3, 4] as const;

/** Rates what is typed into a field, from its shortest valid length on. Until there is an answer, there is no rating. */
function useRating(minCharacters: number) {
  const [rating, setRating] = useState<PasswordRating>();
  const timer = useRef<number>(undefined);
  const asked = useRef(0);
  useEffect(() => () => window.clearTimeout(timer.current), []);

  async function rate(password: string, form: FormData, tries = 1): Promise<void> {
    const question = ++asked.current;
    const owner = { email: textOf(form, "email"), name: textOf(form, "name") };
    const result = await callPortal<PasswordRating>("POST", "password/strength", { password, ...owner });
    // Only the latest answer is about what the field holds.
    if (question !== asked.current) return;
    if ("data" in result) setRating(result.data);
    else if (tries < TRIES_MAX_COUNT) timer.current = window.setTimeout(() => void rate(password, form, tries + 1), AGAIN_MS);
  }

  function onChange({ currentTarget: { value, form } }: ChangeEvent<HTMLInputElement>): void {
    window.clearTimeout(timer.current);
    asked.current += 1;
    setRating(undefined);
    if (form === null || value.length < minCharacters) return;
    timer.current = window.setTimeout(() => void rate(value, new FormData(form)), PAUSE_MS);
  }
  return { rating, onChange };
}

function Meter({ rating, otherwise }: { rating: PasswordRating | undefined; otherwise: string }) {
  const lit = rating?.accepted ? "bg-positive" : "bg-danger";
  const words = rating && (rating.accepted ? "Hard to guess." : `Easy to guess. ${rating.advice}`);
  return (
    <>
      <span aria-hidden className="mt-1 mb-1.5 flex gap-1">
        {BARS.map((bar) => (
          <span key={bar} className={`h-1 flex-1 rounded-full ${rating && bar <= Math.max(rating.score, 1) ? lit : "bg-line"}`} />
        ))}
      </span>
      <span aria-live="polite">{words ?? otherwise}</span>
    </>
  );
}

interface NewPasswordFieldProps {
  readonly label: string;
  readonly minCharacters: number;
  readonly error: string | undefined;
}

/** A new password, in a field named "password", with its length rule and how hard it is to guess. */
export function NewPasswordField({ label, minCharacters, error }: NewPasswordFieldProps) {
  const { rating, onChange } = useRating(minCharacters);
  return (
    <PasswordField
      label={label}
      name="password"
      autoComplete="new-password"
      required
      minLength={minCharacters}
      onChange={onChange}
      hint={<Meter rating={rating} otherwise={`At least ${minCharacters} characters.`} />}
      error={error}
    />
  );
}
