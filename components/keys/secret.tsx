import type { PortalKey } from "#lib/contract/portal";
import { Button } from "../ui/button";
import { CodeBlock } from "../ui/code-block";
import { DialogActions } from "../ui/dialog";
import { Tabs } from "../ui/tabs";

/** A key just created, with its full text. */
export interface MadeKey {
  readonly text: string;
  readonly key: PortalKey;
}

const EXAMPLE = "/api/v1/market/quotes/latest?tickers=EURUSD,XAUUSD";

/** The text of a key, shown once, in the forms in which it is needed. */
export function Secret({ made: { text }, onDone }: { made: MadeKey; onDone: () => void }) {
  const base = window.location.origin;
  const call = `curl -H "Authorization: Bearer ${text}" \\\n"${base}${EXAMPLE}"`;
  return (
    <>
      <CodeBlock label="Copy it now. You won't see it again.">{text}</CodeBlock>
      <div className="mt-5">
        <Tabs
          label="How to use it"
          tabs={[
            {
              value: "env",
              label: ".env",
              content: <CodeBlock label="For a server's environment">{`SPOTWIRE_URL=${base}\nSPOTWIRE_KEY=${text}`}</CodeBlock>,
            },
            { value: "curl", label: "curl", content: <CodeBlock label="A first call">{call}</CodeBlock> },
          ]}
        />
      </div>
      <DialogActions>
        <Button kind="primary" onClick={onDone}>
          I've saved it
        </Button>
      </DialogActions>
    </>
  );
}
