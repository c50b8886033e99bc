"use client";

import { AnswerFacts } from "../playground/answer-facts";
import { JsonTree } from "../playground/json-tree";
import { type Outcome, send } from "../playground/send";
import type { Correction } from "../playground/trouble-correction";
import { TroubleNotice } from "../playground/trouble-notice";
import { createBearers } from "../portal/bearers";
import { CopyButton } from "../ui/copy-button";

interface TryCall {
  readonly method: "GET" | "POST";
  /** Path and query. */
  readonly url: string;
  readonly bearer: string;
}

/** Makes a call with the demo key. Never rejects. */
export function tryCall({ method, url, bearer }: TryCall): Promise<Outcome> {
  return send(createBearers(), { method, url, credential: { kind: "demo", key: bearer } });
}

interface TryAnswerProps {
  readonly outcome: Outcome;
  readonly again: () => void;
  readonly onCorrect: (correction: Correction) => void;
}

/** What a call of a docs page returned. */
export function TryAnswer({ outcome: { answer, trouble }, again, onCorrect }: TryAnswerProps) {
  return (
    <div aria-live="polite" className="flex flex-col gap-3 border-line border-t p-4">
      {answer === undefined ? null : (
        <div className="flex items-start justify-between gap-3">
          <AnswerFacts answer={answer} />
          <CopyButton
            text={answer.body === undefined ? answer.text : JSON.stringify(answer.body, null, 2)}
            className="min-h-7! min-w-16 px-2! text-xs!"
          />
        </div>
      )}
      {trouble === undefined ? null : (
        <TroubleNotice
          trouble={trouble}
          again={answer === undefined || trouble.retryAfterS !== undefined ? again : undefined}
          onCorrect={onCorrect}
        />
      )}
      {answer?.body === undefined ? null : <JsonTree value={answer.body} />}
    </div>
  );
}
