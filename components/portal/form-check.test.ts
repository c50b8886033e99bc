import { expect, test } from "vitest";
import { KEY_NAME_MAX_CHARACTERS } from "#lib/contract/limits";
import { fieldIssue } from "./form-check";

test("a field is checked by itself, with the service's own words", () => {
  expect(fieldIssue("signUp", "email", { email: "ada@", password: "" })).toBe("Enter a valid email address.");
  expect(fieldIssue("signUp", "email", { email: " Ada@Example.test " })).toBeUndefined();
  expect(fieldIssue("signUp", "password", { password: "short" })).toBe("Use at least 12 characters.");
  const name = "x".repeat(KEY_NAME_MAX_CHARACTERS + 1);
  expect(fieldIssue("createKey", "name", { name })).toBe(`Use at most ${KEY_NAME_MAX_CHARACTERS} characters.`);
  expect(fieldIssue("createKey", "origins", { origins: ["x".repeat(300)] })).toMatch(/^`origins\[0\]` must have at most/);
});

test("a field that the contract does not know is left to the service", () => {
  expect(fieldIssue("signIn", "remember", { remember: "yes" })).toBeUndefined();
});
