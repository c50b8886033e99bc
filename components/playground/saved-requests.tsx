"use client";

import { useEffect, useId, useState } from "react";
import { recall, remember } from "../portal/device-storage";
import { refused, textOf, useSubmit } from "../portal/use-submit";
import { Button } from "../ui/button";
import { Dialog } from "../ui/dialog";
import { DialogSubmit } from "../ui/dialog-submit";
import { TextField } from "../ui/field";
import { collectionsOf, NAME_MAX_CHARACTERS, readSaved, type SavedRequest, withSaved } from "./collections";
import type { PlayOperation, Values } from "./model";

const STORED_AS = "spotwire.playground.collections";
const FIRST_COLLECTION = "My requests";
const SMALL = "min-h-7! px-2! pointer-coarse:min-h-10! text-xs!";

interface SavedRequestsProps {
  readonly store: SavedStore;
  readonly operation: PlayOperation;
  readonly values: Values;
  readonly onReopen: (request: SavedRequest) => void;
}

/** The requests of this device. */
interface SavedStore {
  readonly saved: readonly SavedRequest[];
  /** Keeps these; why not, when the browser has no room. */
  keep(next: readonly SavedRequest[]): string | undefined;
}

/** Reads the saved requests of this device, and keeps them. */
export function useSavedRequests(): SavedStore {
  const [saved, setSaved] = useState<readonly SavedRequest[]>([]);
  useEffect(() => setSaved(readSaved(recall(STORED_AS))), []);
  return {
    saved,
    keep(next) {
      if (!remember(STORED_AS, next)) return "This browser has no room to save it, or does not allow it.";
      setSaved(next);
      return undefined;
    },
  };
}

interface SaveDialogProps {
  readonly open: boolean;
  readonly onOpenChange: (open: boolean) => void;
  readonly collections: readonly string[];
  readonly suggestion: string;
  /** Saves under these names; why not, when it cannot. */
  readonly onSave: (naming: { collection: string; name: string }) => string | undefined;
}

function SaveDialog({ open, onOpenChange, collections, suggestion, onSave }: SaveDialogProps) {
  const listId = useId();
  const { busy, errorOf, failure, formProps } = useSubmit({
    fields: ["name"],
    send: async (form) => {
      const why = onSave({ name: textOf(form, "name"), collection: textOf(form, "collection") });
      return why === undefined ? { data: {} } : refused("name", why);
    },
    done: () => onOpenChange(false),
  });
  return (
    <Dialog open={open} onOpenChange={onOpenChange} title="Save request" description="Kept in this browser, without a key.">
      <form {...formProps} className="flex flex-col gap-4">
        <TextField
          label="Name"
          name="name"
          defaultValue={suggestion}
          error={errorOf("name")}
          maxLength={NAME_MAX_CHARACTERS}
          autoComplete="off"
        />
        <TextField
          label="Collection"
          name="collection"
          defaultValue={collections[0] ?? FIRST_COLLECTION}
          list={listId}
          maxLength={NAME_MAX_CHARACTERS}
          autoComplete="off"
        />
        <datalist id={listId}>
          {collections.map((one) => (
            <option key={one} value={one} />
          ))}
        </datalist>
        <DialogSubmit failure={failure} busy={busy} onCancel={() => onOpenChange(false)}>
          Save
        </DialogSubmit>
      </form>
    </Dialog>
  );
}

/** The requests that the reader saved on this device, by collection. */
export function SavedRequests({ store: { saved, keep }, operation, values, onReopen }: SavedRequestsProps) {
  const [open, setOpen] = useState(false);
  const id = useId();
  const collections = collectionsOf(saved);
  const tickers = values.ticker ?? values.tickers ?? "";
  const suggestion = `${operation.title} ${tickers} ${values.timeframe ?? ""}`.trim().slice(0, NAME_MAX_CHARACTERS);
  return (
    <section aria-labelledby={id} className="mt-6 border-line border-t pt-4">
      <div className="flex items-center justify-between gap-2 pl-2.5">
        <h2 id={id} className="font-medium text-ink-faint text-xs leading-6">
          Saved
        </h2>
        <Button kind="ghost" onClick={() => setOpen(true)} className={SMALL}>
          Save request
        </Button>
      </div>
      {collections.map(([collection, requests]) => (
        <details key={collection} open className="mt-1">
          <summary className="cursor-pointer px-2.5 text-sm leading-6">{collection}</summary>
          <ul>
            {requests.map((request) => (
              <li key={request.name} className="flex items-center gap-1">
                <button
                  type="button"
                  onClick={() => onReopen(request)}
                  className="min-w-0 flex-1 truncate rounded-md px-2.5 py-1 pl-5 text-left text-ink-soft text-sm leading-6 hover:bg-sunken hover:text-ink"
                >
                  {request.name}
                </button>
                <Button
                  kind="ghost"
                  aria-label={`Delete ${request.name}`}
                  onClick={() => keep(saved.filter((one) => one !== request))}
                  className={SMALL}
                >
                  ×
                </Button>
              </li>
            ))}
          </ul>
        </details>
      ))}
      {open ? (
        <SaveDialog
          open
          onOpenChange={setOpen}
          collections={collections.map(([name]) => name)}
          suggestion={suggestion}
          onSave={(naming) => {
            const next = withSaved(saved, operation, values, naming);
            return "problem" in next ? next.problem : keep(next);
          }}
        />
      ) : null}
    </section>
  );
}
