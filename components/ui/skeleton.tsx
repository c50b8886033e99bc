/** A placeholder for content that is loading. */
export function Skeleton({ className }: { className: string }) {
  return (
    <span
      aria-hidden="true"
      data-placeholder=""
      className={`block animate-pulse rounded bg-line motion-reduce:animate-none ${className}`}
    />
  );
}
