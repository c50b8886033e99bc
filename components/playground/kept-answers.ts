import type { PlayOperation, Values } from "./model";
import type { Answer } from "./send";

/** Answers a page keeps to compare them, and their size together, as decoded bodies. */
export const KEPT_MAX_COUNT = 20;
export const KEPT_MAX_BYTES = 4_000_000;

/** An answer with the call it is to. */
export interface KeptAnswer {
  /** Counts the answers of this page, from 1. */
  readonly number: number;
  readonly title: string;
  /** The values of the call. */
  readonly values: string;
  /** Unix milliseconds by the clock of this device. */
  readonly at: number;
  readonly answer: Answer;
}

/** What a page keeps, newest first, and how many answers it has dropped for that. */
export interface KeptAnswers {
  readonly answers: readonly KeptAnswer[];
  readonly dropped: number;
}

export const NONE_KEPT: KeptAnswers = { answers: [], dropped: 0 };

/** Keeps an answer, and drops the oldest past KEPT_MAX_COUNT and KEPT_MAX_BYTES. The newest stays, whatever its size. */
export function keepAnswer(kept: KeptAnswers, call: { operation: PlayOperation; values: Values; at: number }, answer: Answer) {
  const { title, path } = call.operation;
  const number = (kept.answers[0]?.number ?? 0) + 1;
  const values = Object.values(call.values).filter(Boolean).join(" ") || path;
  const all = [{ number, title, values, at: call.at, answer }, ...kept.answers];
  let bytes = 0;
  const full = all.findIndex((one, index) => {
    bytes += one.answer.sizeBytes;
    return index === KEPT_MAX_COUNT || (index > 0 && bytes > KEPT_MAX_BYTES);
  });
  const answers = full === -1 ? all : all.slice(0, full);
  return { answers, dropped: kept.dropped + all.length - answers.length } satisfies KeptAnswers;
}
