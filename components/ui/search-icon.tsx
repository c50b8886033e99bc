/** A magnifying glass, in the color of the text. */
export function SearchIcon({ className }: { /** Its size. */ className: string }) {
  return (
    <svg viewBox="0 0 16 16" aria-hidden="true" className={className} fill="none" stroke="currentColor" strokeWidth="1.5">
      <circle cx="7" cy="7" r="4.25" />
      <path d="m10.5 10.5 3 3" strokeLinecap="round" />
    </svg>
  );
}
