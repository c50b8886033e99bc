"use client";

import { useState } from "react";
import { Button } from "../ui/button";
import { Dialog, DialogActions } from "../ui/dialog";
import { TextArea } from "../ui/field";
import { CURL_MAX_CHARACTERS, type CurlImport, readCurl } from "./curl";
import type { PlayOperation } from "./model";

interface CurlImportProps {
  readonly operations: readonly PlayOperation[];
  readonly onImport: (found: Exclude<CurlImport, { problem: string }>) => void;
}

/** Fills the form from a curl command. The command itself is not kept. */
export function CurlImportButton({ operations, onImport }: CurlImportProps) {
  const [open, setOpen] = useState(false);
  const [text, setText] = useState("");
  const [problem, setProblem] = useState<string>();
  const show = (next: boolean) => {
    setOpen(next);
    setText("");
    setProblem(undefined);
  };
  const take = () => {
    const found = readCurl(operations, text);
    if ("problem" in found) return setProblem(found.problem);
    onImport(found);
    show(false);
  };
  return (
    <>
      <Button kind="ghost" onClick={() => show(true)} className="min-h-7! px-2! pointer-coarse:min-h-10! text-xs!">
        Import curl
      </Button>
      <Dialog
        open={open}
        onOpenChange={show}
        title="Import a curl command"
        description="Fills the form with its operation and parameters. The key in it is left out: calls use the key selected here."
        wide
      >
        <form
          onSubmit={(event) => {
            event.preventDefault();
            take();
          }}
        >
          <TextArea
            label="Command"
            value={text}
            error={problem}
            rows={6}
            maxLength={CURL_MAX_CHARACTERS}
            spellCheck={false}
            autoComplete="off"
            onChange={(event) => setText(event.target.value)}
            className="font-mono text-[13px]!"
          />
          <DialogActions>
            <Button onClick={() => show(false)}>Cancel</Button>
            <Button kind="primary" type="submit">
              Import
            </Button>
          </DialogActions>
        </form>
      </Dialog>
    </>
  );
}
