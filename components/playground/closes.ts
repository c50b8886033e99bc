import { afterClose, closeMeaning } from "#lib/contract/close-codes";

const NORMAL_CLOSE = 1000;

/** What a close code means, in plain words; the codes of the protocol that the service never sends among them. */
export function closeSentence(code: number | null): string {
  if (code === NORMAL_CLOSE) return "You closed the connection.";
  if (code === null) return "The connection could not be opened.";
  return closeMeaning(code) ?? "The connection broke without a goodbye: the network or the service went away.";
}

/** What a reader does after it. */
export function afterCloseSentence(code: number | null): string {
  if (code === NORMAL_CLOSE) return "Connect again whenever you like.";
  if (code === null || afterClose(code) === "retry")
    return "A client connects again by itself after a short, random wait. Here, press Connect.";
  return "A client must not connect again by itself: what it says above has to be mended first.";
}
