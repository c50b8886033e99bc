"use client";

import { Button } from "../ui/button";
import { CopyButton } from "../ui/copy-button";
import type { PlayOperation } from "./model";
import { MethodMark } from "./operation-list";

/** Id of the form that Send submits, which is elsewhere on the page. */
export const FORM_ID = "request";

interface RequestBarProps {
  readonly operation: PlayOperation;
  /** Path and query of the call. */
  readonly url: string;
  /** A link to this state of the page; without a key. */
  readonly link: string;
  readonly busy: boolean;
  /** False when no key is available. */
  readonly ready: boolean;
}

/** The request in one line, always visible: what is called, a link to it, and Send. */
export function RequestBar({ operation, url, link, busy, ready }: RequestBarProps) {
  return (
    <div className="sticky top-(--header-height) z-10 -mx-4 flex items-center gap-2 border-line border-b bg-canvas px-4 py-3 sm:mx-0 sm:px-0">
      <p
        title={url}
        className="flex min-h-9 min-w-0 flex-1 items-center gap-2.5 rounded-md border border-line bg-surface px-3 font-mono text-[13px]"
      >
        <MethodMark method={operation.method} />
        <span className="min-w-0 truncate">{url}</span>
      </p>
      <CopyButton text={link} label="Copy link" />
      {operation.method === "STREAM" ? null : (
        <Button kind="primary" type="submit" form={FORM_ID} busy={busy} disabled={!ready} className="min-w-20">
          {busy ? "Sending" : "Send"}
        </Button>
      )}
    </div>
  );
}
