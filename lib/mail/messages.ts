/** A mail to send. */
export interface MailMessage {
  readonly to: string;
  readonly subject: string;
  /** Plain text. */
  readonly text: string;
}

const FOOT = "\n\nYou did not ask for this? Then nothing has to be done: without the link nothing changes.\n";
const link = (base: string, page: "verify" | "reset", token: string) => `${base}/${page}?token=${encodeURIComponent(token)}`;

/** Asks a new user to verify their address. `base` is what links start with. */
export function verifyMail(to: string, base: string, token: string): MailMessage {
  const text = `Welcome to Spotwire.\n\nVerify this address within 24 hours, so that you can make keys:\n\n${link(base, "verify", token)}${FOOT}`;
  return { to, subject: "Verify your email address", text };
}

/** Goes to an address that already has an account when somebody signs up with it or changes to it. */
export function alreadyMail(to: string, base: string): MailMessage {
  const text = `Somebody, probably you, gave this address to Spotwire. It has an account already.\n\nSign in: ${base}/signin\nForgot the password? ${base}/forgot\n`;
  return { to, subject: "You already have an account", text };
}

/** The link for choosing a new password. */
export function resetMail(to: string, base: string, token: string): MailMessage {
  const text = `Choose a new password within one hour:\n\n${link(base, "reset", token)}\n\nAll your browsers are signed out then.${FOOT}`;
  return { to, subject: "Choose a new password", text };
}

/** Goes to the new address; the change counts once its link was opened. */
export function changeMail(to: string, base: string, token: string): MailMessage {
  const text = `Confirm within 24 hours that this is the new address of your Spotwire account:\n\n${link(base, "verify", token)}${FOOT}`;
  return { to, subject: "Confirm your new email address", text };
}

/** Tells the owner that a password was changed or set. */
export function passwordChangedMail(to: string, base: string): MailMessage {
  const text = `The password of your Spotwire account was changed, and other browsers were signed out.\n\nIt was not you? Choose another at once: ${base}/forgot\n`;
  return { to, subject: "Your password was changed", text };
}

/** Goes to the old address after a change. */
export function emailChangedMail(to: string, newEmail: string): MailMessage {
  const text = `Your Spotwire account now belongs to ${newEmail}. Links sent to this address work no more.\n\nIt was not you? Tell the operator of this installation at once.\n`;
  return { to, subject: "Your email address was changed", text };
}
