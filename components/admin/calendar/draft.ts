"use client";

import { type FormEvent, useMemo, useState } from "react";
import { CalendarDefinitionSchema } from "#lib/contract/calendar";
import { validate } from "#lib/contract/validate";
import { HOUR_S } from "#lib/units";
import { atField } from "../../portal/use-submit";

type Kind = CalendarDefinitionSchema["kind"];

/** A calendar of each kind to begin with. */
const FRESH: Readonly<Record<Kind, CalendarDefinitionSchema>> = {
  weekly: {
    kind: "weekly",
    zone: "America/New_York",
    week: [],
    holidays: [],
    earlyCloses: {},
    lateOpens: {},
    coveredUntil: "",
  },
  always: { kind: "always" },
  never: { kind: "never" },
  cycle: { kind: "cycle", anchorS: 0, openS: HOUR_S, closedS: HOUR_S },
};

/** What a draft is refused for. */
interface DraftIssues {
  /** The first refusal as a sentence that names its field; undefined for a valid draft. */
  readonly first: string | undefined;
  /** Why one field is refused, such as `week`, 0, `close`. */
  at(...path: readonly PropertyKey[]): string | undefined;
}

/** A definition that is being edited, by a form and as JSON. */
interface Draft {
  readonly definition: CalendarDefinitionSchema;
  readonly issues: DraftIssues;
  change(definition: CalendarDefinitionSchema): void;
  /** Changes the kind. What was entered for another kind is back when that kind is chosen again. */
  choose(kind: Kind): void;
  /** The definition as JSON, or the text that is being typed while it is not a valid definition. */
  readonly json: string;
  readonly jsonProblem: string | undefined;
  /** Changes the JSON. The form follows as soon as it is a valid definition. */
  write(json: string): void;
  /** Props of the element around the fields. A field is called by its path, and what is wrong with it is said once it is left. */
  readonly fieldProps: { onInput(event: FormEvent): void; onBlur(): void };
}

/** The name of the field at a path. */
export const nameOf = (...path: readonly PropertyKey[]) => path.map(String).join(".");
/** The name of the field with the whole definition. */
export const JSON_NAME = "json";

/** Everything the service would refuse in a definition, in its own words. */
export function draftIssues(definition: unknown): DraftIssues {
  const validated = validate(CalendarDefinitionSchema, definition);
  const refusals = "refusals" in validated ? validated.refusals : [];
  // The first refusal of a field counts: a text that is no date is not one between two years either.
  const byPath = new Map(refusals.toReversed().map(({ path, detail }) => [nameOf(...path), atField(detail, String(path[0]))]));
  return { first: refusals[0]?.detail, at: (...path) => byPath.get(nameOf(...path)) };
}

/** Reads a definition from JSON; the error is the browser's for invalid JSON, otherwise the service's. */
export function readJson(text: string): { readonly definition: CalendarDefinitionSchema } | { readonly problem: string } {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    return { problem: error instanceof Error ? error.message : "Not valid JSON." };
  }
  const validated = validate(CalendarDefinitionSchema, value, { whole: "A definition" });
  return "data" in validated ? { definition: validated.data } : { problem: validated.refusals[0].detail };
}

/** Edits a definition. There is one state, which the form and the JSON both show and change. */
export function useDraft(stored: CalendarDefinitionSchema): Draft {
  const [drafts, setDrafts] = useState<typeof FRESH>({ ...FRESH, [stored.kind]: stored });
  const [kind, setKind] = useState<Kind>(stored.kind);
  const [typed, setTyped] = useState<{ readonly text: string; readonly problem: string | undefined }>();
  const [typing, setTyping] = useState<string>();
  const definition = drafts[kind];
  const issues = useMemo(() => draftIssues(definition), [definition]);

  function replace(next: CalendarDefinitionSchema): void {
    setDrafts({ ...drafts, [next.kind]: next });
    setKind(next.kind);
  }

  return {
    definition,
    issues: {
      first: typing === undefined ? issues.first : undefined,
      at: (...path) => (nameOf(...path) === typing ? undefined : issues.at(...path)),
    },
    fieldProps: {
      onInput: ({ target }) => setTyping((target as Partial<HTMLInputElement>).name || undefined),
      onBlur: () => setTyping(undefined),
    },
    json: typed?.text ?? JSON.stringify(definition, null, 2),
    jsonProblem: typing === JSON_NAME ? undefined : typed?.problem,
    change(next) {
      setTyped(undefined);
      replace(next);
    },
    choose(next) {
      setTyped(undefined);
      setKind(next);
    },
    write(text) {
      const read = readJson(text);
      setTyped({ text, problem: "problem" in read ? read.problem : undefined });
      if ("definition" in read) replace(read.definition);
    },
  };
}
