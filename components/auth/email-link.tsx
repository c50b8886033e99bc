import Link from "next/link";
import { buttonClass } from "../ui/button";
import { AuthCard, TEXT_LINK } from "./auth-card";

/** Where a reader goes on whose link from an email does not work. */
interface WayOut {
  readonly href: string;
  readonly label: string;
}

/** Replaces the form of a page that was opened without the token of its link. */
export function IncompleteLink({ href, label }: WayOut) {
  return (
    <AuthCard title="This link is incomplete" lead="Open the link in the email again.">
      <Link href={href} className={buttonClass("primary")}>
        {label}
      </Link>
    </AuthCard>
  );
}

/** The foot of a form that uses the token of a link. */
export function LinkFoot({ href, label }: WayOut) {
  return (
    <>
      Link not working?{" "}
      <Link href={href} className={TEXT_LINK}>
        {label}
      </Link>
    </>
  );
}
