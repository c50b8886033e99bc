import type { ReactNode } from "react";
import { TEXT_LINK } from "./auth-card";

/** The installation's own documents, which new users accept; none where both are absent. */
export interface Terms {
  readonly terms?: string | undefined;
  readonly privacy?: string | undefined;
}

function link(href: string | undefined, label: string): ReactNode {
  if (href === undefined) return null;
  return (
    <a href={href} target="_blank" rel="noreferrer" className={TEXT_LINK}>
      {label}
    </a>
  );
}

/** Names and links the documents. */
export function TermsLinks({ terms: { terms, privacy } }: { terms: Terms }) {
  return (
    <>
      {link(terms, "terms")}
      {terms !== undefined && privacy !== undefined ? " and the " : null}
      {link(privacy, "privacy policy")}
    </>
  );
}

export const hasTerms = ({ terms, privacy }: Terms): boolean => terms !== undefined || privacy !== undefined;

/** The box that a new user ticks, where there is something to accept. */
export function TermsField({ terms, error }: { terms: Terms; error: string | undefined }) {
  if (!hasTerms(terms)) return null;
  return (
    <div>
      <label className="flex cursor-pointer items-start gap-3 text-sm leading-6">
        <input
          type="checkbox"
          name="terms"
          required
          aria-invalid={error === undefined ? undefined : true}
          aria-describedby={error === undefined ? undefined : "terms-error"}
          className="mt-1 size-4 shrink-0 accent-(--accent-ground)"
        />
        <span>
          I accept the <TermsLinks terms={terms} />
        </span>
      </label>
      {error === undefined ? null : (
        <p id="terms-error" role="alert" className="mt-1.5 text-danger text-xs leading-5">
          {error}
        </p>
      )}
    </div>
  );
}
