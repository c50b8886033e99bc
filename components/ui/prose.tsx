const CODE = /`([^`]+)`/;

/** A sentence that shows text between backticks as code. */
export function Prose({ text }: { text: string }) {
  return text.split(CODE).map((piece, index) =>
    index % 2 === 0 ? (
      piece
    ) : (
      // biome-ignore lint/suspicious/noArrayIndexKey: the pieces have no other name
      <code key={index} className="rounded bg-sunken px-1 font-mono text-[0.9em]">
        {piece}
      </code>
    ),
  );
}
