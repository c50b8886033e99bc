import { describe, expect, test } from "vitest";
import { generate } from "./generate";

describe("generate", () => {
  test("leaves a client alone that is up to date", () => {
    generate();
    expect(generate()).toBe(false);
  });
});
