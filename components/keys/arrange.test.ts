import { expect, test } from "vitest";
import type { PortalKey } from "#lib/contract/portal";
import { arrangeKeys, replacedInGrace } from "./arrange";

const key = (id: string, state: PortalKey["state"], replaced_by: string | null = null) =>
  ({ id, state, replaced_by }) as PortalKey;

test("a key that was rotated follows the one that replaced it, and keys that no longer work are apart", () => {
  const keys = [
    key("newest", "active"),
    key("other", "scheduled"),
    key("older", "grace", "newest"),
    key("oldest", "grace", "older"),
    key("gone", "revoked", "newest"),
    key("ended", "expired"),
  ];
  const { current, past } = arrangeKeys(keys);
  expect(current.map(({ key, isReplaced }) => [key.id, isReplaced])).toEqual([
    ["newest", false],
    ["older", true],
    ["oldest", true],
    ["other", false],
  ]);
  expect(past.map(({ id }) => id)).toEqual(["gone", "ended"]);
});

test("a key in grace whose successor was revoked stays in the list", () => {
  const { current } = arrangeKeys([key("next", "revoked"), key("old", "grace", "next")]);
  expect(current.map(({ key, isReplaced }) => [key.id, isReplaced])).toEqual([["old", false]]);
});

test("the keys that one replaced and that still work are named, also across one that was revoked", () => {
  const keys = [
    key("newest", "active"),
    key("older", "revoked", "newest"),
    key("oldest", "grace", "older"),
    key("first", "grace", "oldest"),
    key("other", "grace", "elsewhere"),
  ];
  expect(replacedInGrace(keys, { id: "newest" }).map(({ id }) => id)).toEqual(["oldest", "first"]);
  expect(replacedInGrace(keys, { id: "first" })).toEqual([]);
});
