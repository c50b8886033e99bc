/** Where emails go: to a mail server or, without one, to the page /outbox, or only to the log of the service. */
export type MailDelivery = "server" | "outbox" | "log";

/** What followed from an opened verification link: whether its browser is signed in. */
export type LinkEntry =
  /** It already was. */
  | "signed_in"
  /** It may sign in once, without a password. */
  | "ready"
  /** It goes on with the second factor. */
  | "second_factor"
  /** It stays as it was: somebody else is signed in there, or the link was for something else. */
  | "none";
