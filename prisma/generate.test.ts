import { describe, expect, it } from "vitest";
import { generate } from "./generate";

describe("generate", () => {
  it("leaves a client alone that is up to date", () => {
    generate();
    expect(generate()).toBe(false);
  });
});
