/** The name with its mark: a price line that ends in a live point. */
export function Wordmark() {
  return (
    <>
      <svg viewBox="0 0 24 24" aria-hidden="true" className="size-5 text-accent" fill="none">
        <path
          d="M2 16.5 7 10l4 4.5L16.5 7"
          stroke="currentColor"
          strokeWidth="2.25"
          strokeLinecap="round"
          strokeLinejoin="round"
        />
        <circle cx="19.5" cy="5.5" r="2.75" fill="currentColor" />
      </svg>
      <span>Spotwire</span>
    </>
  );
}
