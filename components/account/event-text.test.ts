import { expect, test } from "vitest";
import type { AuditLogEntry } from "#lib/contract/portal";
import { eventText } from "./event-text";

const at = "2026-11-23T10:00:00.120Z";
const entry = (action: string, more: Partial<AuditLogEntry> = {}) =>
  ({
    id: "1",
    at,
    actor: "ada@example.com",
    target: "t",
    before: null,
    after: null,
    address: null,
    action,
    ...more,
  }) as AuditLogEntry;

test.each([
  [
    "key.rotate",
    { after: { name: "My first key", grace_until: "2026-11-24T10:00:00.000Z" } },
    "Rotated key My first key, grace 1 d",
  ],
  ["key.rotate", { after: { name: "My first key", grace_until: at } }, "Rotated key My first key"],
  ["account.change", { before: { plan: "free" }, after: { plan: "pro" } }, "Plan changed to pro"],
  [
    "account.change",
    { before: { sign_in_domain: null }, after: { sign_in_domain: "acme.test" } },
    "Sign-in domain set to acme.test by an operator",
  ],
  ["member.role", { target: "dev@acme.test", after: { role: "reader" } }, "Made dev@acme.test reader"],
  ["account.change", { before: { suspended: false }, after: { suspended: true } }, "Account suspended by an operator"],
  ["account.decline_live", {}, "Live access declined by an operator"],
  ["account.change", { before: { live_access: true }, after: { live_access: false } }, "Live access withdrawn by an operator"],
  [
    "account.change",
    { before: { live_access: false, history_days: null }, after: { live_access: true, history_days: 7 } },
    "Live access granted and permissions changed by an operator",
  ],
  ["calendar.override", { target: "forex", after: { state: "closed" } }, "Closed calendar forex by override"],
  ["feed.pin", { before: { provider: "oanda" }, after: { provider: null } }, "Released provider oanda"],
  ["incident.delete", { before: { title: "Late quotes" } }, "Deleted the incident note Late quotes"],
  ["plan.change", { target: "team-a", after: { rest_burst: 5 } }, "Added plan team-a"],
  ["access.sign_in", { after: { method: "passkey", browser: "Firefox" } }, "Signed in with a passkey, Firefox"],
] as const)("%s has a sentence of its own", (action, more, sentence) => {
  expect(eventText(entry(action, more))).toBe(sentence);
});

test("an action that has no sentence has none made up, and one without details does not fail", () => {
  expect(eventText(entry("constructor"))).toBeUndefined();
  expect(eventText(entry("key.create"))).toBe("Created key ");
});
