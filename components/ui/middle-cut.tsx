/** Characters at the end that stay: names of keys differ there, "prod eu 1" and "prod eu 2". */
const END_CHARACTERS = 8;

/** A name on one line. Where the line is too short, its middle is left out: names that begin alike stay apart. */
export function MiddleCut({ text }: { text: string }) {
  const end = [...text].slice(-END_CHARACTERS).join("");
  return (
    <span className="flex min-w-0 whitespace-pre" title={text}>
      {/* The two parts would be read as two words. */}
      <span className="sr-only">{text}</span>
      <span aria-hidden="true" className="min-w-0 truncate">
        {text.slice(0, text.length - end.length)}
      </span>
      <span aria-hidden="true" className="shrink-0">
        {end}
      </span>
    </span>
  );
}
