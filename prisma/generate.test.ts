import { describe, expect, test } from "vitest";
import { generate } from "./generate";

describe("generate", () => {
  test("generate does not rewrite a client that is up to date", () => {
    generate();
    expect(generate()).toBe(false);
  });
});
