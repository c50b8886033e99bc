import { NAME_MARK } from "#lib/brand";
import { browserName } from "#lib/browser-name";
import { type MailMessage, pageLink, timeText } from "./messages";

/** When and where somebody did what an email is about. */
export interface Occasion {
  /** Unix milliseconds. */
  readonly atMs: number;
  /** The client's address; null for an operator at a terminal. */
  readonly address: string | null;
  readonly userAgent: string;
  /** Base URL of links, without a trailing slash. */
  readonly base: string;
}

/** The occasion in lines; the browser by its name only, because whoever uses it chooses what it calls itself. */
function linesOf({ atMs, address, userAgent }: Occasion): string {
  const time = timeText(new Date(atMs));
  if (address === null) return `Time: ${time}\nBy: an operator of this installation`;
  return `Time: ${time}\nIP address: ${address || "unknown"}\nBrowser: ${browserName(userAgent) ?? "unknown"}`;
}

const takeBack = ({ base, address }: Occasion) =>
  address === null
    ? "If you did not ask for this, contact the operator of this installation."
    : `If this was not you, choose a new password now, which signs out all browsers: ${base}/forgot`;

function compose(to: string, subject: string, what: string, occasion: Occasion, then = takeBack(occasion)): MailMessage {
  return { to, subject, text: `${what}\n\n${linesOf(occasion)}\n\n${then}\n` };
}

/** Notifies the owner of a sign-in in a browser that is not known. */
export function newSignInMail(to: string, occasion: Occasion): MailMessage {
  return compose(to, "New sign-in", `Someone signed in to your ${NAME_MARK} account in a new browser.`, occasion);
}

/** What was done to a key. */
export type KeyChangeWord = "created" | "rotated" | "revoked";

/** Notifies the owner of what was done to a key. */
export function keyMail(to: string, keyName: string, made: KeyChangeWord, occasion: Occasion): MailMessage {
  const then = `${takeBack(occasion)}\nThen check your keys: ${occasion.base}/dashboard/keys`;
  return compose(to, `API key ${made}`, `The API key "${keyName}" of your ${NAME_MARK} account was ${made}.`, occasion, then);
}

/** Notifies the owner of what was done to a link, whose address anybody can use who has it. */
export function linkMail(to: string, linkName: string, made: "created" | "revoked", occasion: Occasion): MailMessage {
  const then = `${takeBack(occasion)}\nThen check your links: ${occasion.base}/dashboard/links`;
  return compose(to, `Link ${made}`, `The link "${linkName}" of your ${NAME_MARK} account was ${made}.`, occasion, then);
}

/** Notifies the owner that signing in with a provider became possible or impossible. */
export function providerMail(to: string, provider: string, made: "linked" | "unlinked", occasion: Occasion): MailMessage {
  const then = `${takeBack(occasion)}\nThen check the linked providers: ${occasion.base}/dashboard/account`;
  const [subject, what] = [
    `Sign-in provider ${made}`,
    `The provider "${provider}" was ${made} ${made === "linked" ? "to" : "from"} your`,
  ];
  return compose(to, subject, `${what} ${NAME_MARK} account.`, occasion, then);
}

/** What a password reset revoked besides the sessions. */
interface Revoked {
  readonly keys: number;
  readonly providers: number;
}

/** Notifies the owner that the password was changed or set. */
export function passwordChangedMail(
  to: string,
  occasion: Occasion,
  { keys, providers }: Revoked = { keys: 0, providers: 0 },
): MailMessage {
  const more = [
    ...(keys > 0 ? [` ${keys} API ${keys === 1 ? "key was" : "keys were"} revoked.`] : []),
    ...(providers > 0 ? [` ${providers} sign-in ${providers === 1 ? "provider was" : "providers were"} unlinked.`] : []),
  ];
  const what = `The password of your ${NAME_MARK} account was changed, and other browsers were signed out.${more.join("")}`;
  return compose(to, "Your password was changed", what, occasion);
}

/** The links of the email about a requested change of address. */
interface ChangeLinks {
  /** Cancels the change. */
  readonly cancel: string;
  /** Approves it; absent when the old address was never verified, and need not approve. */
  readonly approve?: string | undefined;
}

/** Sent to the old address when a change is requested. */
export function changeRequestedMail(
  to: string,
  newEmail: string,
  occasion: Occasion,
  { cancel, approve }: ChangeLinks,
): MailMessage {
  const { base } = occasion;
  const how =
    approve === undefined
      ? " It changes when the link in the email to that address is opened."
      : ` It changes when you approve it here and open the link in the email to that address:\n\n${pageLink(base, "verify", approve)}`;
  const then = `If this was not you, cancel the change and sign out all browsers:\n\n${pageLink(base, "cancel-email", cancel)}\n\nThen choose a new password: ${base}/forgot`;
  const what = `Someone, probably you, asked to change the address of your ${NAME_MARK} account to ${newEmail}.${how}`;
  return compose(to, "Your email address is about to change", what, occasion, then);
}

/** Notifies the owner of a change to second factors and recovery codes; `what` is a sentence. */
export function secondFactorMail(
  to: string,
  what: string,
  occasion: Occasion,
  subject = "Your sign-in settings were changed",
): MailMessage {
  const then = `${takeBack(occasion)}\nThen check your passkeys and your authenticator app: ${occasion.base}/dashboard/account`;
  return compose(to, subject, what, occasion, then);
}

/** Notifies the owner that a recovery code was used, of which some are left. */
export function recoveryCodeMail(to: string, left: number, occasion: Occasion): MailMessage {
  const what = `A recovery code was used to sign in to your ${NAME_MARK} account. ${left} ${left === 1 ? "is" : "are"} left.`;
  return secondFactorMail(to, what, occasion, "A recovery code was used to sign in");
}

/** Warns the owner that somebody tries one code after the other. */
export function wrongCodesMail(to: string, count: number, occasion: Occasion): MailMessage {
  const what = `Someone entered the password of your ${NAME_MARK} account, or signed in with a linked provider, and then entered ${count} wrong codes within a day. Until that day is over, codes of your authenticator app are refused where this happened. Recovery codes and passkeys work.`;
  return compose(to, "Wrong codes at your sign-in", what, occasion);
}

/** Sent to the old address after a change. */
export function emailChangedMail(to: string, newEmail: string, occasion: Occasion): MailMessage {
  const what = `Your ${NAME_MARK} account now belongs to ${newEmail}. Links sent to this address no longer work.`;
  const then = "If this was not you, contact the operator of this installation now.";
  return compose(to, "Your email address was changed", what, occasion, then);
}

/** Sent to the new address when an operator gave it to a user. */
export function addressGivenMail(to: string, oldEmail: string, occasion: Occasion): MailMessage {
  const { base } = occasion;
  const what = `Your ${NAME_MARK} account, until now that of ${oldEmail}, belongs to this address. All browsers were signed out.\n\nSign in: ${base}/signin\nForgot your password? ${base}/forgot`;
  return compose(to, "This is now the email of your account", what, occasion);
}

/** Sent to the address that stays when a change was canceled. */
export function changeCanceledMail(to: string, occasion: Occasion): MailMessage {
  const what = `The change of your email address was canceled. All browsers were signed out.`;
  const then = `Someone who knows your password requested the change. Choose a new one: ${occasion.base}/forgot`;
  return compose(to, "Your email address stays the same", what, occasion, then);
}
