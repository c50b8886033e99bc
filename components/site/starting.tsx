/** Replaces a page that shows the running service while the service is starting. */
export function Starting() {
  return (
    <p className="rounded-xl border border-line border-dashed p-6 text-ink-soft text-sm leading-6">
      The service is starting. Reload this page in a moment.{" "}
      <a href="/api/ready" className="text-accent underline">
        /api/ready
      </a>{" "}
      shows what it is waiting for.
    </p>
  );
}
