import { type Brand, NAME_MARK } from "#lib/brand";
import { wordsOf } from "#lib/check-words";

/** An email to send. */
export interface MailMessage {
  readonly to: string;
  readonly subject: string;
  /** Plain text. */
  readonly text: string;
}

/** An email, or what composes it off the request that asked for it. */
export type Mail = MailMessage | (() => Promise<MailMessage>);

/** An email as its reader gets it: with the name of the service, and where to ask for support. */
export function underBrand({ to, subject, text }: MailMessage, { name, support }: Pick<Brand, "name" | "support">): MailMessage {
  const places = [support.url, support.email].filter((place) => place !== undefined);
  const foot = places.length === 0 ? "" : `\nSupport: ${places.join(" or ")}\n`;
  const named = (words: string) => words.replaceAll(NAME_MARK, () => name);
  return { to, subject: named(subject), text: named(text) + foot };
}

const FOOT = "\n\nIf you did not request this, ignore this email: nothing changes unless someone opens the link.\n";

/** The URL of a page with the token of a link in its fragment, which browsers send to nobody: no log and no `Referer` has it. */
export function pageLink(base: string, page: "verify" | "reset" | "cancel-email" | "invitation", token: string): string {
  return `${base}/${page}#token=${encodeURIComponent(token)}`;
}

/** Asks a new user to verify their address. Links start with `base`. */
export function verifyMail(to: string, base: string, token: string): MailMessage {
  const text = `Welcome to ${NAME_MARK}.\n\nVerify this email within 24 hours to create API keys:\n\n${pageLink(base, "verify", token)}${FOOT}`;
  return { to, subject: "Verify your email address", text };
}

/** Invites an address to an organisation. */
export function invitationMail(to: string, base: string, organisation: string, inviter: string, token: string): MailMessage {
  const text = `${inviter} invites you to the organisation ${organisation} at ${NAME_MARK}.\n\nAccept within 7 days:\n\n${pageLink(base, "invitation", token)}${FOOT}`;
  return { to, subject: `Invitation to ${organisation}`, text };
}

/** Tells the owner of an account that an operator approved it, or refused it. */
export function approvalMail(to: string, base: string, approved: boolean): MailMessage {
  if (approved)
    return {
      to,
      subject: "Your account is approved",
      text: `Your ${NAME_MARK} account is approved. Create your first API key: ${base}/dashboard/keys\n`,
    };
  return {
    to,
    subject: "Your account was not approved",
    text: `The operator of this ${NAME_MARK} installation did not approve your account. It was deleted.\n`,
  };
}

/** Accounts that an email names; further ones are counted. */
const NAMED_MAX_COUNT = 20;

/** Tells an operator which accounts ask for live access. */
export function liveAskedMail(to: string, base: string, accounts: readonly string[]): MailMessage {
  const more = accounts.length - NAMED_MAX_COUNT;
  const named = [...accounts.slice(0, NAMED_MAX_COUNT), ...(more > 0 ? [`and ${more} more`] : [])].map((name) => `  ${name}`);
  const text = `These accounts ask for live access at ${NAME_MARK}:\n\n${named.join("\n")}\n\nGrant or decline it: ${base}/admin/accounts?waiting=true\n`;
  return {
    to,
    subject: accounts.length === 1 ? "An account asks for live access" : `${accounts.length} accounts ask for live access`,
    text,
  };
}

const LIVE_DECISIONS = {
  granted: (base: string) => `It can make live keys and read live prices now: ${base}/dashboard/keys`,
  withdrawn: () => "Its live keys have stopped working. Its sandbox keys work as before.",
  declined: () => "The operator did not grant it. Its sandbox keys work as before.",
} as const;

/** What an operator can decide about the live access of an account. */
export type LiveDecision = keyof typeof LIVE_DECISIONS;

/** Tells an owner of an account what an operator decided about its live access. */
export function liveAccessMail(to: string, base: string, account: string, decision: LiveDecision): MailMessage {
  const text = `Live access of the account ${account} at ${NAME_MARK} was ${decision}.\n\n${LIVE_DECISIONS[decision](base)}\n`;
  return { to, subject: `Live access ${decision}`, text };
}

/** Sent to an address that already has an account when someone signs up with it or changes to it. */
export function alreadyMail(to: string, base: string): MailMessage {
  const text = `Someone, probably you, entered this email at ${NAME_MARK}. It already has an account.\n\nSign in: ${base}/signin\nForgot your password? ${base}/forgot\n`;
  return { to, subject: "You already have an account", text };
}

/** The link for choosing a new password. */
export function resetMail(to: string, base: string, token: string): MailMessage {
  const text = `Choose a new password within one hour:\n\n${pageLink(base, "reset", token)}\n\nThis signs you out in all browsers.${FOOT}`;
  return { to, subject: "Choose a new password", text };
}

/** Sent to the new address; the change takes effect when its link is opened. */
export function changeMail(to: string, base: string, token: string): MailMessage {
  const text = `Confirm within 24 hours that this is the new email of your ${NAME_MARK} account:\n\n${pageLink(base, "verify", token)}${FOOT}`;
  return { to, subject: "Confirm your new email address", text };
}

/** A time as emails have it: `2026-11-28 08:50 UTC`. */
export const timeText = (at: Date): string => `${at.toISOString().slice(0, 16).replace("T", " ")} UTC`;

/** How much an account has used of its month. */
interface MonthShare {
  readonly account: string;
  readonly plan: string;
  readonly month_units: number;
  readonly month_hard: boolean;
  readonly units: number;
  readonly percent: number;
  readonly resetsAt: Date;
}

/** What an alert of an organisation ends with. */
const alertFoot = (base: string, organisation: string) =>
  `\nOrganisation: ${organisation}. Choose its alerts: ${base}/dashboard/organisation\n`;

/** Tells a member that the account used a share of its monthly quota. */
export function monthMail(to: string, base: string, share: MonthShare): MailMessage {
  const { account, plan, month_units, month_hard, units, percent, resetsAt } = share;
  const resets = timeText(resetsAt);
  const hard = percent < 100 ? `When it is used up, calls are refused until ${resets}.` : `Calls are refused until ${resets}.`;
  const effect = month_hard ? hard : "Nothing is refused: what goes beyond it is counted.";
  const subject = percent < 100 ? `${percent}% of your monthly quota is used` : "Your monthly quota is used up";
  const text = `Your account used ${units} of the ${month_units} units that the plan "${plan}" has for this month (UTC).

${effect} The next month begins at ${resets}.

Your usage: ${base}/dashboard/usage
${alertFoot(base, account)}`;
  return { to, subject, text };
}

/** A problem as an email names it. */
interface NamedProblem {
  /** That of its check. */
  readonly name: string;
  readonly problem: string;
  readonly since: Date;
  /** Null while it lasts. */
  readonly until: Date | null;
}

/** Warns an operator of problems that began, and says which are over. */
export function warningMail(to: string, base: string, problems: readonly NamedProblem[]): MailMessage {
  const begun = problems.filter(({ until }) => until === null);
  const [told] = begun.length > 0 ? begun : problems;
  const count = begun.length > 0 ? begun.length : problems.length;
  const subject = `${begun.length > 0 ? "Problem" : "Over"}: ${wordsOf(told?.name ?? "").title}${count > 1 ? ` and ${count - 1} more` : ""}`;
  const parts = problems.map(({ name, problem, since, until }) => {
    const { title, concerns, next, path } = wordsOf(name);
    const head = `${title}: ${problem}\nSince ${timeText(since)}`;
    return until === null ? `${head}\nConcerns: ${concerns}\n${next}: ${base}${path}` : `${head}, over since ${timeText(until)}.`;
  });
  return { to, subject, text: `${parts.join("\n\n")}\n\nHealth of ${NAME_MARK}: ${base}/admin\n` };
}

/** A key as an email names it. */
interface NamedKey {
  readonly name: string;
  readonly prefix: string;
  readonly last4: string;
  readonly account: string;
}

const nameOf = ({ name, prefix, last4 }: NamedKey) => `  ${name} (${prefix}…${last4})`;

/** Warns a member of keys of one organisation that expire soon, in the order given. */
export function keyExpiryMail(
  to: string,
  base: string,
  keys: readonly (NamedKey & { readonly expires_at: Date })[],
): MailMessage {
  const [first] = keys;
  const subject =
    keys.length === 1 ? `Your API key "${first?.name}" expires soon` : `${keys.length} of your API keys expire soon`;
  const lines = keys.map((key) => `${nameOf(key)}: ${timeText(key.expires_at)}`);
  const text = `After its expiry a key is rejected everywhere:\n\n${lines.join("\n")}\n\nTo keep a program running, change the expiry of its key or give it a new one: ${base}/dashboard/keys\n${alertFoot(base, first?.account ?? "")}`;
  return { to, subject, text };
}

/** A key whose use was refused, as an email names it. */
interface NamedRefusal extends NamedKey {
  readonly state: string;
  readonly refused_at: Date;
  readonly refused_address: string | null;
}

/** Tells a member that keys of one organisation were used after they had ended. */
export function keyRefusedMail(to: string, base: string, keys: readonly NamedRefusal[]): MailMessage {
  const [first] = keys;
  const subject =
    keys.length === 1
      ? `Your ${first?.state} API key "${first?.name}" was used`
      : `${keys.length} revoked or expired API keys were used`;
  const lines = keys.map(
    (key) => `${nameOf(key)}, ${key.state}: ${timeText(key.refused_at)} from ${key.refused_address ?? "an unknown network"}`,
  );
  const text = `Requests with these keys are rejected:

${lines.join("\n")}

If this is a program of yours, give it a new key: ${base}/dashboard/keys
If not, somebody has the text of the key. Look at what it was used for before it ended: ${base}/dashboard/logs

You get no other email about such a key until it was not used for 7 days.
${alertFoot(base, first?.account ?? "")}`;
  return { to, subject, text };
}
