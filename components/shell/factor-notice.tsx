/** Tells an operator without a second factor what is closed until there is one. */
export function FactorNotice() {
  return (
    <div className="mb-8 rounded-lg border border-warning/40 bg-surface p-4 text-sm leading-6">
      <p className="max-w-prose">
        <strong className="font-medium">Operators need a second factor.</strong>{" "}
        <span className="text-ink-soft">
          Add a passkey or an authenticator app on this page. The other pages open once you have one.
        </span>
      </p>
    </div>
  );
}
