import type { AuditLogEntry } from "#lib/contract/portal";
import { durationText } from "#lib/duration";
import { MINUTE_MS } from "#lib/units";

type Parts = Readonly<Record<string, unknown>>;

const partsOf = (value: unknown): Parts => (typeof value === "object" && value !== null ? (value as Parts) : {});
const text = (value: unknown) => (typeof value === "string" ? value : "");

/** The grace period that a rotation gave; empty for none. */
function graceOf({ at, after }: AuditLogEntry): string {
  const graceMs = Date.parse(text(partsOf(after).grace_until)) - Date.parse(at);
  // The entry is written a moment after the period began.
  const wholeMs = Math.round(graceMs / MINUTE_MS) * MINUTE_MS;
  return wholeMs > 0 ? `, grace ${durationText(wholeMs)}` : "";
}

function changeText({ before, after }: AuditLogEntry): string {
  const [was, is] = [partsOf(before), partsOf(after)];
  if (was.suspended !== is.suspended)
    return is.suspended === true ? "Account suspended by an operator" : "Account restored by an operator";
  const changed = (name: string) => JSON.stringify(was[name]) !== JSON.stringify(is[name]);
  const permissions = changed("permissions") || changed("history_days");
  if (was.live_access !== is.live_access)
    return `Live access ${is.live_access === true ? "granted" : "withdrawn"}${permissions ? " and permissions changed" : ""} by an operator`;
  if (was.sign_in_domain !== is.sign_in_domain)
    return `Sign-in domain ${text(is.sign_in_domain) === "" ? "removed" : `set to ${text(is.sign_in_domain)}`} by an operator`;
  if (was.plan !== is.plan) return `Plan changed to ${text(is.plan)}`;
  return "Permissions changed by an operator";
}

/** A note by its title, which a deleted one has only before. */
function incidentText(done: string, { before, after }: AuditLogEntry): string {
  return `${done} the incident note ${text(partsOf(after).title) || text(partsOf(before).title)}`;
}

/** What operators change for everybody. */
const INSTALLATION: Readonly<Record<string, (entry: AuditLogEntry) => string>> = {
  "calendar.define": ({ target }) => `Changed the hours of calendar ${target}`,
  "calendar.override": ({ target, after }) =>
    `${partsOf(after).state === "open" ? "Opened" : "Closed"} calendar ${target} by override`,
  "calendar.lift": ({ target }) => `Ended an override of calendar ${target}`,
  "feed.pin": ({ before, after }) => {
    const pinned = text(partsOf(after).provider);
    return pinned === "" ? `Released provider ${text(partsOf(before).provider)}` : `Pinned provider ${pinned}`;
  },
  "history.undo": ({ target }) => `Undid import ${target}`,
  "history.redo": ({ target }) => `Put import ${target} back`,
  "history.correct": ({ target }) => `Corrected klines of ${target}`,
  "history.import": () => "Imported klines",
  "history.upload": () => "Imported files in the browser",
  "history.push": ({ after }) => `Klines pushed with key ${text(partsOf(after).key)}`,
  "incident.add": (entry) => incidentText("Added", entry),
  "incident.edit": (entry) => incidentText("Changed", entry),
  "incident.delete": (entry) => incidentText("Deleted", entry),
  "instrument.add": ({ target }) => `Added instrument ${target}`,
  "instrument.retire": ({ target }) => `Retired instrument ${target}`,
  "instrument.restore": ({ target }) => `Restored instrument ${target}`,
  "plan.change": ({ target, before }) => `${before === null ? "Added" : "Changed"} plan ${target}`,
};

/** Sentences by action; of an action without one the page shows its name. */
const SENTENCES: Readonly<Record<string, (entry: AuditLogEntry) => string>> = {
  ...INSTALLATION,
  "key.create": ({ after }) => `Created key ${text(partsOf(after).name)}`,
  "key.edit": ({ after }) => `Changed key ${text(partsOf(after).name)}`,
  "key.rotate": (entry) => `Rotated key ${text(partsOf(entry.after).name)}${graceOf(entry)}`,
  "key.revoke": ({ after }) => `Revoked key ${text(partsOf(after).name)}`,
  "link.create": ({ after }) => `Created link ${text(partsOf(after).name)}`,
  "link.revoke": ({ before }) => `Revoked link ${text(partsOf(before).name)}`,
  "account.create": () => "Account created",
  "account.change": changeText,
  "account.delete": () => "Deleted the account",
  "account.sign_up": () => "Signed up",
  "account.sign_up_again": () => "Signed up again before the email was verified",
  "account.sign_up_taken": () => "Somebody tried to sign up with this email",
  "account.verify_email": ({ target }) => `Verified ${target}`,
  "account.profile": ({ after }) => `Changed the name to ${text(partsOf(after).name) || "nothing"}`,
  "account.password": () => "Changed the password",
  "account.reset_password": () => "Set a new password with a link",
  "account.email": ({ after }) => `Changed the email to ${text(partsOf(after).email)}`,
  "account.approve_email": () => "Approved a change of email",
  "account.cancel_email": () => "Canceled a change of email",
  "account.sign_out_everywhere": () => "Signed out everywhere",
  "account.link_provider": ({ target }) => `Linked ${target}`,
  "account.unlink_provider": ({ target }) => `Unlinked ${target}`,
  "account.ask_live": () => "Asked for live access",
  "account.decline_live": () => "Live access declined by an operator",
  "account.approve": () => "Account approved by an operator",
  "account.refuse": () => "Account refused by an operator",
  "organisation.change": () => "Changed the organisation",
  "member.invite": ({ target, after }) => `Invited ${target} as ${text(partsOf(after).role)}`,
  "member.withdraw_invitation": ({ target }) => `Withdrew the invitation of ${target}`,
  "member.join": ({ after }) => `Joined as ${text(partsOf(after).role)}`,
  "member.role": ({ target, after }) => `Made ${target} ${text(partsOf(after).role)}`,
  "member.remove": ({ target }) => `Removed ${target}`,
  "member.leave": () => "Left the organisation",
  "webhook.add": ({ after }) => `Added a webhook to ${text(partsOf(after).url)}`,
  "webhook.remove": ({ before }) => `Removed the webhook to ${text(partsOf(before).url)}`,
  "webhook.resume": ({ after }) => `Resumed the webhook to ${text(partsOf(after).url)}`,
  "passkey.add": ({ target }) => `Added passkey ${target}`,
  "passkey.remove": ({ target }) => `Removed passkey ${target}`,
  "second_factor.add_app": () => "Added an authenticator app",
  "second_factor.remove_app": () => "Removed the authenticator app",
  "second_factor.reset": () => "Passkeys, app and recovery codes removed by an operator",
  "recovery_code.use": ({ after }) => `Used a recovery code, ${String(partsOf(after).recovery_codes)} left`,
  "recovery_code.renew": () => "Made new recovery codes",
  "operator.grant": () => "Became an operator",
  "operator.revoke": () => "Is no longer an operator",
  "access.sign_in": ({ after }) => {
    const { method, browser } = partsOf(after);
    return `Signed in with ${METHODS[text(method)] ?? text(method)}${browser === "unknown" ? "" : `, ${text(browser)}`}`;
  },
  "access.sign_in_failed": ({ after }) => `Failed to sign in: ${text(partsOf(after).reason)}`,
  "access.sign_out": () => "Signed out",
  "access.revoke_session": () => "Signed out another browser",
  "access.read": ({ target }) => `An operator viewed ${target}`,
  "access.denied": ({ target }) => `Was refused ${target}`,
};

const METHODS: Readonly<Record<string, string>> = {
  password: "a password",
  code: "a code",
  passkey: "a passkey",
  entry: "a verification link",
};

/** What happened, as a sentence; undefined for an action without one. */
export function eventText(entry: AuditLogEntry): string | undefined {
  return Object.hasOwn(SENTENCES, entry.action) ? SENTENCES[entry.action]?.(entry) : undefined;
}
