import { CopyButton } from "./copy-button";

/** A text to copy, with a button for it; one click selects all of it. */
export function CodeBlock({ label, children }: { label: string; children: string }) {
  return (
    <figure>
      <div className="mb-2 flex items-end justify-between gap-4">
        <figcaption className="text-ink-faint text-sm">{label}</figcaption>
        <CopyButton text={children} />
      </div>
      <pre className="rounded-lg border border-line bg-sunken p-3 font-mono text-[13px] leading-6">
        <code className="block select-all whitespace-pre-wrap [overflow-wrap:anywhere]">{children}</code>
      </pre>
    </figure>
  );
}
