import { ZxcvbnFactory } from "@zxcvbn-ts/core";
import { adjacencyGraphs, dictionary as commonPasswords } from "@zxcvbn-ts/language-common";
import { translations, dictionary as words } from "@zxcvbn-ts/language-en";
import { PASSWORD_MIN_SCORE } from "#lib/contract/portal";
import { isBreached } from "./breached-passwords";
import { answerOrders } from "./thread";

/**
 * The thread that rates passwords. Its dictionaries take 60 MB, and an awkward password a tenth of a second. Bundled as a file
 * of its own (server/cli/bundle.ts).
 */

/** A password to rate, with words that its owner is known by. */
export interface StrengthOrder {
  readonly password: string;
  readonly personal: readonly string[];
}

/** How hard a password is to guess. */
export interface Strength {
  /** From 0 to 4: each step stands for a hundred times as many guesses, 4 for more than 10^10. */
  readonly score: number;
  /** What makes it easy to guess, and what helps; empty for most good passwords. */
  readonly advice: string;
}

/**
 * Characters that are rated, from the first: the work grows faster than the length. More only help if the beginning is not easy
 * to guess.
 */
const RATED_MAX_CHARACTERS = 32;
/** Readings of a password with digits and signs as letters; the library's default of 100 takes ten times as long. */
const READINGS_MAX_COUNT = 10;

const rater = new ZxcvbnFactory({
  dictionary: { ...commonPasswords, ...words },
  graphs: adjacencyGraphs,
  translations,
  l33tMaxSubstitutions: READINGS_MAX_COUNT,
  maxLength: RATED_MAX_CHARACTERS,
});

/** For a password that would be good if nobody had chosen it before. */
const BREACHED: Strength = { score: 0, advice: "It is among the most common passwords that became public in breaches." };

answerOrders(({ password, personal }: StrengthOrder): Strength => {
  const { score, feedback } = rater.check(password, [...personal]);
  if (score >= PASSWORD_MIN_SCORE && isBreached(password)) return BREACHED;
  const advice = [feedback.warning, ...feedback.suggestions.slice(0, 1)].filter(Boolean).join(" ");
  return { score, advice };
});
