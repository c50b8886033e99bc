"use client";

import type { PortalKey } from "#lib/contract/portal";
import { FirstCalls } from "../first-steps/checklist";
import { buttonClass } from "../ui/button";
import { CodeBlock } from "../ui/code-block";
import { ShownOnce } from "../ui/shown-once";
import { Tabs } from "../ui/tabs";

/** A key just created, with its full text. */
export interface MadeKey {
  readonly text: string;
  readonly key: PortalKey;
}

const TICKERS = ["EURUSD", "XAUUSD"] as const;
/** Tickers of the first request of a key that is limited to some. */
const TICKERS_MAX_COUNT = 2;

/** A first request that the key may make. */
function callOf({ text, key }: MadeKey, base: string): string {
  const own = key.tickers.slice(0, TICKERS_MAX_COUNT);
  const tickers = (own.length === 0 ? TICKERS : own).join(",");
  return `curl -H "Authorization: Bearer ${text}" "${base}/api/v1/market/quotes/latest?tickers=${tickers}"`;
}

interface SecretProps {
  readonly made: MadeKey;
  /** Whether to wait for the account's first requests: not for a live key that no feed answers. */
  readonly firstCalls?: boolean;
  readonly onDone: () => void;
}

/** The text of a key, shown once, in the forms in which it is needed, and the first requests that are made with it. */
export function Secret({ made, firstCalls = false, onDone }: SecretProps) {
  const { text, key } = made;
  const base = window.location.origin;
  return (
    <ShownOnce
      text={text}
      action={
        // A tab of its own: the key is shown here once.
        <a href={`/playground?key=${key.id}`} target="_blank" rel="noreferrer" className={buttonClass("secondary")}>
          Open in playground
        </a>
      }
      onDone={onDone}
    >
      <div className="mt-5">
        <Tabs
          label="How to use it"
          tabs={[
            { value: "curl", label: "curl", content: <CodeBlock label="A first request">{callOf(made, base)}</CodeBlock> },
            {
              value: "env",
              label: ".env",
              content: <CodeBlock label="For a server's environment">{`SPOTWIRE_URL=${base}\nSPOTWIRE_KEY=${text}`}</CodeBlock>,
            },
            {
              value: "typescript",
              label: "TypeScript",
              content: (
                <CodeBlock label="The typed client of this service">{`npm install ${base}/spotwire-client.tgz ws`}</CodeBlock>
              ),
            },
          ]}
        />
      </div>
      {firstCalls ? <FirstCalls /> : null}
    </ShownOnce>
  );
}
