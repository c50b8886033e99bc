"use client";

import dynamic from "next/dynamic";
import Link from "next/link";
import { useRef, useState } from "react";
import { urlOf } from "#lib/docs/samples/call";
import { useShowCall } from "../docs/sample-call";
import type { PlayField, RestOperation, Values } from "../playground/model";
import type { Outcome } from "../playground/send";
import { corrected } from "../playground/trouble-correction";
import { Button } from "../ui/button";
import { CONTROL } from "../ui/field";
import { Select } from "../ui/select";

// Loaded with the first call: it holds the words for every error.
const TryAnswer = dynamic(() => import("./try-answer").then((module) => module.TryAnswer), { ssr: false });

interface TryFormProps {
  readonly call: Pick<RestOperation, "id" | "method" | "path" | "fields">;
  /** The values of the samples as they were printed. */
  readonly start: Values;
  readonly inPlayground: boolean;
  readonly bearer: string;
}

interface FieldRowProps {
  readonly field: PlayField;
  readonly value: string;
  readonly onChange: (value: string) => void;
}

function FieldRow({ field, value, onChange }: FieldRowProps) {
  const id = `try-${field.name}`;
  const control = { id, value, "aria-required": field.required, className: `${CONTROL} min-h-9 py-1! font-mono text-[13px]!` };
  const none = field.required ? [] : [{ value: "", label: "–" }];
  return (
    <div className="grid grid-cols-[6.5rem_minmax(0,1fr)] items-center gap-2">
      <label htmlFor={id} className="truncate font-mono text-[13px]">
        {field.name}
      </label>
      {field.choices === undefined ? (
        <input
          {...control}
          autoComplete="off"
          spellCheck={false}
          placeholder={field.required ? undefined : "optional"}
          onChange={(event) => onChange(event.target.value)}
        />
      ) : (
        <Select
          {...control}
          onChange={onChange}
          options={[...none, ...field.choices.map((one) => ({ value: one, label: one }))]}
        />
      )}
    </div>
  );
}

/** Sends the call of this page with the demo key and shows the answer; one call at a time. The samples beside it follow. */
export function TryForm({ call, start, inPlayground, bearer }: TryFormProps) {
  const [values, setValues] = useState(start);
  const showCall = useShowCall();
  const [busy, setBusy] = useState(false);
  const [outcome, setOutcome] = useState<Outcome>();
  const sending = useRef(false);
  const urlWith = (parameters: Values) => urlOf({ operation: call, parameters, base: "", key: null });
  const url = urlWith(values);
  const query = url.split("?")[1];
  const change = (name: string, value: string) => {
    const next = { ...values, [name]: value };
    setValues(next);
    showCall(urlWith(next));
  };
  const run = async () => {
    if (sending.current) return;
    sending.current = true;
    setBusy(true);
    const { tryCall } = await import("./try-answer");
    setOutcome(await tryCall({ method: call.method, url, bearer }));
    sending.current = false;
    setBusy(false);
  };
  return (
    <section aria-label="Try it" className="try rounded-lg border border-line bg-surface">
      <form
        noValidate
        onSubmit={(event) => {
          event.preventDefault();
          void run();
        }}
        className="flex flex-col gap-2 p-4"
      >
        {call.fields.map((field) => (
          <FieldRow
            key={field.name}
            field={field}
            value={values[field.name] ?? ""}
            onChange={(value) => change(field.name, value)}
          />
        ))}
        <div className="mt-1 flex items-center justify-between gap-x-4">
          <p className="text-ink-faint text-xs leading-5">
            Sends a real call with the public demo key. The code above shows the same call.
            {inPlayground ? (
              <>
                {" "}
                <Link
                  prefetch={false}
                  href={`/playground?op=${call.id}${query === undefined ? "" : `&${query}`}`}
                  className="text-accent underline"
                >
                  Open in playground
                </Link>
              </>
            ) : null}
          </p>
          <Button kind="primary" type="submit" busy={busy} className="min-w-20">
            {busy ? "Sending" : "Send"}
          </Button>
        </div>
      </form>
      {outcome === undefined ? null : (
        <TryAnswer
          outcome={outcome}
          again={run}
          onCorrect={(correction) => change(correction.parameter, corrected(values[correction.parameter] ?? "", correction))}
        />
      )}
    </section>
  );
}
