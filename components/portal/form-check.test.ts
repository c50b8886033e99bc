import { expect, test } from "vitest";
import { KEY_NAME_MAX_CHARACTERS } from "#lib/contract/limits";
import { formIssues } from "./form-check";
import { atField } from "./use-submit";

test("fields are checked with the service's own words", () => {
  expect(formIssues("signUp", { email: "ada@", password: "short" })).toEqual({
    email: "Enter a valid email address.",
    password: "Use at least 12 characters.",
  });
  expect(formIssues("signUp", { email: " Ada@Example.test ", password: "correct horse battery" })).toEqual({});
  const name = "x".repeat(KEY_NAME_MAX_CHARACTERS + 1);
  const { name: ofName, origins } = formIssues("createKey", { name, origins: ["x".repeat(300)] });
  expect(ofName).toBe(`Use at most ${KEY_NAME_MAX_CHARACTERS} characters.`);
  expect(origins).toMatch(/^`origins\[0\]` must have at most/);
  expect(atField(origins ?? "", "origins")).toBe("Entry 1 must have at most 260 characters.");
});

test.each([
  ["`scopes` cannot combine these.", "Cannot combine these."],
  // Pages show details without their backticks.
  ["scopes[1] must be `a`.", "Entry 2 must be a."],
  ["scopes[1].kind must be a.", "Must be a."],
  ["scopesOf must be a.", "ScopesOf must be a."],
  ["Choose at least one.", "Choose at least one."],
])("at its field, %j reads %j", (detail, said) => expect(atField(detail, "scopes")).toBe(said));

test("a field that depends on another is checked with it", () => {
  const note = { title: "Maintenance", text: "", impact: "none", starts_at: "2026-11-23T10:00:00Z" };
  expect(formIssues("incidentNote", { ...note, ends_at: "2026-11-23T09:00:00Z" })).toEqual({
    ends_at: "The end must be later than the start.",
  });
  expect(formIssues("incidentNote", { ...note, ends_at: null })).toEqual({});
  const strike = { action: "strike", time: 1_767_225_600, reason: "A wrong tick" };
  expect(formIssues("correction", { ...strike, minutes: 0 })).toEqual({ minutes: "`minutes` must be at least 1." });
  expect(formIssues("correction", { ...strike, action: "replace", minutes: 1, open: -1 })).toMatchObject({
    open: "`open` must be greater than 0.",
  });
});

test("a field that the contract does not know is left to the service", () => {
  expect(formIssues("signIn", { email: "ada@example.test", password: "x", remember: "yes" })).toEqual({});
});

test("what is empty and required is said in one sentence, and so is what is no number or no time", () => {
  expect(formIssues("signIn", { email: "", password: "" })).toEqual({
    email: "Enter a valid email address.",
    password: "Enter your password.",
  });
  expect(
    formIssues("link", { name: "A", key_id: crypto.randomUUID(), operation: "klines", parameters: {}, expires_at: "" }),
  ).toEqual({
    expires_at: "Enter a date.",
  });
  expect(formIssues("editKey", { rest_burst: "many" })).toEqual({ rest_burst: "`rest_burst` must be a number." });
  expect(formIssues("correction", { action: "strike", time: 1_767_225_600, minutes: undefined, reason: "" })).toEqual({
    minutes: "`minutes` is required.",
    reason: "Enter a reason.",
  });
  expect(formIssues("signUp", { email: "ada@example.test", password: "correct horse battery", terms: false })).toEqual({
    terms: "Accept the terms to create an account.",
  });
});
