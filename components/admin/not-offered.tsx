"use client";

import { useState } from "react";
import type { FeedReport } from "#lib/contract/portal-admin";
import { callPortal } from "../portal/api";
import { countText } from "../portal/numbers";
import { useSubmit } from "../portal/use-submit";
import { Button } from "../ui/button";
import { AlertDialog } from "../ui/dialog";
import { DialogSubmit } from "../ui/dialog-submit";
import { TickerList } from "../ui/ticker-list";
import { useToast } from "../ui/toast";

const instrumentsText = (count: number) => `${countText(count)} ${count === 1 ? "instrument" : "instruments"}`;

interface RetireDialogProps {
  /** As they were when the operator asked: what they confirm does not change under their hand. */
  readonly tickers: readonly string[];
  readonly onClose: () => void;
  readonly onChange: () => void;
}

/** Confirms before instruments are retired. */
function RetireDialog({ tickers, onClose, onChange }: RetireDialogProps) {
  const announce = useToast();
  const { busy, failure, formProps } = useSubmit({
    fields: ["tickers"],
    send: () => callPortal("POST", "admin/feeds/not-offered/retire", { tickers }),
    done: () => {
      onClose();
      onChange();
      announce(`${instrumentsText(tickers.length)} retired.`);
    },
  });
  return (
    <AlertDialog
      open
      onOpenChange={onClose}
      title={`Retire ${instrumentsText(tickers.length)}`}
      description="The live venue no longer lists them. Their history stays, and npm run instruments -- restore brings them back."
    >
      <form {...formProps}>
        <div className="mb-4 max-h-48 overflow-y-auto rounded-md border border-line p-3">
          <TickerList tickers={tickers} />
        </div>
        <DialogSubmit failure={failure} busy={busy} onCancel={onClose} kind="danger">
          Retire
        </DialogSubmit>
      </form>
    </AlertDialog>
  );
}

/** The instruments that the feed of a venue does not offer, with a button that retires them all. */
export function NotOffered({ feed, onChange }: { feed: FeedReport; onChange: () => void }) {
  const { provider, not_offered: tickers } = feed;
  const [asked, setAsked] = useState<readonly string[]>();
  if (tickers.length === 0) return null;
  return (
    <details className="mt-3 rounded-lg border border-line bg-surface">
      <summary className="cursor-pointer px-4 py-3 text-sm">
        <h3 className="inline font-medium">
          {instrumentsText(tickers.length)} not offered by <code className="font-mono">{provider}</code>
        </h3>
      </summary>
      <div className="mb-3 flex flex-wrap items-center justify-between gap-x-4 gap-y-2 px-4">
        <p className="min-w-0 text-ink-soft text-sm">
          No prices come, and that is no fault. Retire them so that nobody waits for them.
        </p>
        <Button kind="secondary" onClick={() => setAsked(tickers)}>
          {tickers.length === 1 ? "Retire it" : `Retire all ${countText(tickers.length)}`}
        </Button>
      </div>
      <div className="px-4 pb-4">
        <TickerList tickers={tickers} />
      </div>
      {asked === undefined ? null : <RetireDialog tickers={asked} onClose={() => setAsked(undefined)} onChange={onChange} />}
    </details>
  );
}
