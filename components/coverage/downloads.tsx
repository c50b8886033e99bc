import Link from "next/link";
import { FILE_TYPES, type FileType } from "#lib/contract/files";
import type { Credential } from "../portal/credential";
import { Section } from "../ui/card";
import { filesCall } from "./files-call";

interface DownloadsProps {
  readonly ticker: string;
  /** Undefined where the reader has no key of the venue. */
  readonly credential: Credential | undefined;
}

const LABELS: Readonly<Record<FileType, string>> = { klines: "M1 klines by month", ticks: "Ticks by day" };

/** How the klines and ticks of an instrument are had. */
export function Downloads({ ticker, credential }: DownloadsProps) {
  if (credential === undefined)
    return (
      <Section title="Download">
        <p className="max-w-prose text-ink-soft text-sm leading-6">
          Calls need a key of this venue. See{" "}
          <Link prefetch={false} href="/docs/authentication" className="text-accent underline">
            Authentication
          </Link>
          .
        </p>
      </Section>
    );
  return (
    <Section title="Download">
      <p className="max-w-prose text-ink-soft text-sm leading-6">
        History is in{" "}
        <Link prefetch={false} href="/docs/files" className="text-accent underline">
          files
        </Link>
        , as Parquet or CSV. Each list opens as a call in the playground, with code that reads its files. A{" "}
        <Link prefetch={false} href="/dashboard/links" className="text-accent underline">
          signed link
        </Link>{" "}
        gives a spreadsheet the CSV.
      </p>
      <ul className="mt-3 flex flex-wrap gap-2">
        {FILE_TYPES.map((type) => (
          <li key={type}>
            <Link
              prefetch={false}
              href={filesCall(ticker, type, credential)}
              className="inline-flex min-h-8 items-center rounded-md border border-line px-3 text-sm hover:border-edge pointer-coarse:min-h-11"
            >
              {LABELS[type]}
              <span className="sr-only"> of {ticker} in the playground</span>
            </Link>
          </li>
        ))}
      </ul>
    </Section>
  );
}
