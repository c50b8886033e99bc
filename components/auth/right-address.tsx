"use client";

import { usePathname } from "next/navigation";
import { useSyncExternalStore } from "react";
import { TEXT_LINK } from "./auth-card";

const never = () => () => undefined;

/**
 * Tells who opened the portal by another address than its own, such as an IP address, where it is: its forms refuse what comes from
 * elsewhere, and its cookies are not kept there. Only the browser knows its address for certain: a proxy may send another Host.
 * @param own the origin of PUBLIC_URL
 */
export function RightAddress({ own }: { own: string }) {
  const path = usePathname();
  const here = useSyncExternalStore(
    never,
    () => window.location.origin,
    () => own,
  );
  if (here === own) return null;
  return (
    <p className="mb-8 rounded-lg border border-warning/40 bg-surface p-4 text-ink-soft text-sm leading-6">
      <strong className="font-medium text-ink">Signing in does not work at this address.</strong> Open{" "}
      <a href={`${own}${path}`} className={`${TEXT_LINK} [overflow-wrap:anywhere]`}>
        {own}
      </a>
      , the address of this portal.
    </p>
  );
}
