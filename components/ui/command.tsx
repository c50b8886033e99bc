/** A line to paste into a shell: one click selects the whole of it, long words wrap. */
export function Command({ label, children }: { label: string; children: string }) {
  return (
    <figure>
      <figcaption className="mb-2 text-ink-faint text-sm">{label}</figcaption>
      <pre className="rounded-lg border border-line bg-sunken p-3 font-mono text-xs leading-6 sm:p-4 sm:text-[13px]">
        <code className="block select-all whitespace-pre-wrap break-words [overflow-wrap:anywhere]">{children}</code>
      </pre>
    </figure>
  );
}
