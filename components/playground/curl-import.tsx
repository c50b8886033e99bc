"use client";

import { useState } from "react";
import { refused, textOf, useSubmit } from "../portal/use-submit";
import { Button } from "../ui/button";
import { Dialog } from "../ui/dialog";
import { DialogSubmit } from "../ui/dialog-submit";
import { TextArea } from "../ui/field";
import { CURL_MAX_CHARACTERS, type CurlImport, readCurl } from "./curl";
import type { PlayOperation } from "./model";

type Found = Exclude<CurlImport, { problem: string }>;

interface CurlImportProps {
  readonly operations: readonly PlayOperation[];
  readonly onImport: (found: Found) => void;
}

function ImportForm({ operations, onImport, onCancel }: CurlImportProps & { readonly onCancel: () => void }) {
  const { busy, errorOf, failure, formProps } = useSubmit<Found>({
    fields: ["command"],
    send: async (form) => {
      const found = readCurl(operations, textOf(form, "command"));
      return "problem" in found ? refused("command", found.problem) : { data: found };
    },
    done: onImport,
  });
  return (
    <form {...formProps}>
      <TextArea
        label="Command"
        name="command"
        error={errorOf("command")}
        rows={6}
        maxLength={CURL_MAX_CHARACTERS}
        spellCheck={false}
        autoComplete="off"
        className="font-mono text-[13px]!"
      />
      <DialogSubmit failure={failure} busy={busy} onCancel={onCancel}>
        Import
      </DialogSubmit>
    </form>
  );
}

/** Fills the form from a curl command. The command itself is not kept. */
export function CurlImportButton({ operations, onImport }: CurlImportProps) {
  const [open, setOpen] = useState(false);
  return (
    <>
      <Button kind="ghost" onClick={() => setOpen(true)} className="min-h-7! px-2! pointer-coarse:min-h-10! text-xs!">
        Import curl
      </Button>
      <Dialog
        open={open}
        onOpenChange={setOpen}
        title="Import a curl command"
        description="Fills the form with its operation and parameters. The key in it is left out: calls use the key selected here."
        wide
      >
        <ImportForm
          operations={operations}
          onCancel={() => setOpen(false)}
          onImport={(found) => {
            onImport(found);
            setOpen(false);
          }}
        />
      </Dialog>
    </>
  );
}
