import { afterClose, closeMeaning } from "#lib/contract/close-codes";

const NORMAL_CLOSE = 1000;

/** The meaning of each close code in plain words, including codes of the protocol that the service never sends. */
export function closeSentence(code: number | null): string {
  if (code === NORMAL_CLOSE) return "You closed the connection.";
  if (code === null) return "The connection could not be opened.";
  return closeMeaning(code) ?? "The connection was lost. The network or the service became unavailable.";
}

/** What a reader should do after it. */
export function afterCloseSentence(code: number | null): string {
  if (code === NORMAL_CLOSE) return "Connect again at any time.";
  if (code === null || afterClose(code) === "retry")
    return "A client should reconnect automatically after a short, random delay. Here, press Connect.";
  return "A client must not reconnect automatically. Fix the problem above first.";
}
