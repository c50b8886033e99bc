/** An email to send. */
export interface MailMessage {
  readonly to: string;
  readonly subject: string;
  /** Plain text. */
  readonly text: string;
}

/** An email, or what composes it off the request that asked for it. */
export type Mail = MailMessage | (() => Promise<MailMessage>);

const FOOT = "\n\nIf you did not request this, ignore this email: nothing changes unless someone opens the link.\n";

/** The URL of a page with the token of a link in its fragment, which browsers send to nobody: no log and no `Referer` has it. */
export function pageLink(base: string, page: "verify" | "reset" | "cancel-email", token: string): string {
  return `${base}/${page}#token=${encodeURIComponent(token)}`;
}

/** Asks a new user to verify their address. Links start with `base`. */
export function verifyMail(to: string, base: string, token: string): MailMessage {
  const text = `Welcome to Spotwire.\n\nVerify this address within 24 hours to create API keys:\n\n${pageLink(base, "verify", token)}${FOOT}`;
  return { to, subject: "Verify your email address", text };
}

/** Sent to an address that already has an account when someone signs up with it or changes to it. */
export function alreadyMail(to: string, base: string): MailMessage {
  const text = `Someone, probably you, entered this address at Spotwire. It already has an account.\n\nSign in: ${base}/signin\nForgot your password? ${base}/forgot\n`;
  return { to, subject: "You already have an account", text };
}

/** The link for choosing a new password. */
export function resetMail(to: string, base: string, token: string): MailMessage {
  const text = `Choose a new password within one hour:\n\n${pageLink(base, "reset", token)}\n\nThis signs you out in all browsers.${FOOT}`;
  return { to, subject: "Choose a new password", text };
}

/** Sent to the new address; the change takes effect when its link is opened. */
export function changeMail(to: string, base: string, token: string): MailMessage {
  const text = `Confirm within 24 hours that this is the new address of your Spotwire account:\n\n${pageLink(base, "verify", token)}${FOOT}`;
  return { to, subject: "Confirm your new email address", text };
}

/** A key as an email names it. */
interface NamedKey {
  readonly name: string;
  readonly prefix: string;
  readonly last4: string;
  readonly expires_at: Date;
}

/** Warns an owner of keys that expire soon, in the order given. */
export function keyExpiryMail(to: string, base: string, keys: readonly NamedKey[]): MailMessage {
  const [first] = keys;
  const subject =
    keys.length === 1 ? `Your API key "${first?.name}" expires soon` : `${keys.length} of your API keys expire soon`;
  const lines = keys.map(({ name, prefix, last4, expires_at }) => `  ${name} (${prefix}…${last4}): ${expires_at.toISOString()}`);
  const text = `After its expiry a key is rejected everywhere:\n\n${lines.join("\n")}\n\nTo keep a program running, change the expiry of its key or give it a new one: ${base}/dashboard/keys\n`;
  return { to, subject, text };
}
