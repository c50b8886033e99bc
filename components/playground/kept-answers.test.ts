import { expect, test } from "vitest";
import { KEPT_MAX_BYTES, KEPT_MAX_COUNT, type KeptAnswers, keepAnswer, NONE_KEPT } from "./kept-answers";
import type { PlayOperation } from "./model";
import type { Answer } from "./send";

const operation = { id: "klines", title: "Historical klines", path: "/api/v1/market/klines" } as PlayOperation;
const answerOf = (sizeBytes: number) => ({ status: 200, sizeBytes, body: {} }) as Answer;

function keepAll(sizes: readonly number[]): KeptAnswers {
  const values = { ticker: "EURUSD", from: "" };
  return sizes.reduce<KeptAnswers>((kept, size, at) => keepAnswer(kept, { operation, values, at }, answerOf(size)), NONE_KEPT);
}

test("answers are kept newest first, each with its call and a number that stays", () => {
  const { answers, dropped } = keepAll([100, 200]);
  expect(answers).toMatchObject([
    { number: 2, at: 1, title: "Historical klines", values: "EURUSD", answer: { sizeBytes: 200 } },
    { number: 1, at: 0, answer: { sizeBytes: 100 } },
  ]);
  expect(dropped).toBe(0);
});

test("past the number that is kept the oldest answers are dropped, and counted", () => {
  const { answers, dropped } = keepAll(Array.from({ length: KEPT_MAX_COUNT + 3 }, () => 1));
  expect(answers.map(({ number }) => number)).toEqual(Array.from({ length: KEPT_MAX_COUNT }, (_, n) => KEPT_MAX_COUNT + 3 - n));
  expect(dropped).toBe(3);
});

test("past the bytes that are kept the oldest answers are dropped, but never the newest", () => {
  const half = KEPT_MAX_BYTES / 2;
  expect(keepAll([half, half, half]).answers.map(({ number }) => number)).toEqual([3, 2]);
  expect(keepAll([1, half, half]).dropped).toBe(1);
  expect(keepAll([half, KEPT_MAX_BYTES + 1])).toMatchObject({ answers: [{ number: 2 }], dropped: 1 });
  expect(keepAll([KEPT_MAX_BYTES + 1, 1])).toMatchObject({ answers: [{ number: 2 }], dropped: 1 });
});
