import Link from "next/link";
import type { LinkInfo } from "#lib/contract/portal-links";
import { Button } from "../ui/button";
import { CodeBlock } from "../ui/code-block";
import { Dialog, DialogActions } from "../ui/dialog";

interface LinkAddressProps {
  readonly link: LinkInfo;
  readonly address: string;
  readonly onClose: () => void;
}

/** The address of a link, and how spreadsheets use it. */
export function LinkAddress({ link, address, onClose }: LinkAddressProps) {
  const isCsv = new URLSearchParams(link.query).get("format") === "csv";
  return (
    <Dialog
      open
      wide
      onOpenChange={onClose}
      title={link.name}
      description="Treat it like a password: anyone who has it can make this call until the link ends."
    >
      <div className="space-y-5">
        <CodeBlock label="URL">{address}</CodeBlock>
        {isCsv ? <CodeBlock label="Google Sheets">{`=IMPORTDATA("${address}")`}</CodeBlock> : null}
        <p className="text-ink-soft text-sm leading-6">
          In Excel choose <strong className="font-medium text-ink">Data</strong>,{" "}
          <strong className="font-medium text-ink">From Web</strong>.{" "}
          <Link prefetch={false} href="/docs/spreadsheets" className="text-accent underline">
            Steps for each program
          </Link>
        </p>
      </div>
      <DialogActions>
        <a
          href={address}
          target="_blank"
          rel="noreferrer"
          className="px-3.5 py-1.5 font-medium text-accent text-sm leading-6 hover:underline"
        >
          Try it
        </a>
        <Button kind="primary" onClick={onClose}>
          Done
        </Button>
      </DialogActions>
    </Dialog>
  );
}
