import { msText } from "../portal/numbers";
import { Badge } from "../ui/badge";
import { RateMeter, rateLimitOf } from "./answer-headers";
import type { Answer } from "./send";

const KILOBYTE = 1_024;
const STATUS_WORDS: Readonly<Record<number, string>> = {
  200: "OK",
  400: "Bad Request",
  401: "Unauthorized",
  403: "Forbidden",
  404: "Not Found",
  429: "Too Many Requests",
  500: "Server Error",
  503: "Unavailable",
};

/** The size of a body in words. */
function sizeText(bytes: number): string {
  return bytes < KILOBYTE ? `${bytes} B` : `${(bytes / KILOBYTE).toFixed(1)} kB`;
}

/** Status, time and size of an answer, and what is left of the rate limit. */
export function AnswerFacts({ answer }: { answer: Answer }) {
  const limit = rateLimitOf(answer);
  return (
    <div className="flex flex-1 flex-wrap items-center gap-x-5 gap-y-2">
      <Badge tone={answer.status < 300 ? "positive" : answer.status < 500 ? "warning" : "danger"}>
        {answer.status} {STATUS_WORDS[answer.status] ?? ""}
      </Badge>
      <dl className="flex gap-4 font-mono text-xs tabular-nums">
        <div className="flex gap-1.5">
          <dt className="text-ink-faint">Time</dt>
          <dd>{msText(answer.tookMs)}</dd>
        </div>
        <div className="flex gap-1.5">
          <dt className="text-ink-faint">Size</dt>
          <dd>{sizeText(answer.sizeBytes)}</dd>
        </div>
      </dl>
      <div className="sm:ml-auto">{limit === undefined ? null : <RateMeter {...limit} />}</div>
    </div>
  );
}
