import { DEFAULT_BRAND } from "#lib/brand";
import { runningPortal } from "#server/pages/runtime";

/** What this installation calls itself, even before the service is up. */
export const brandHere = () => runningPortal()?.brand ?? DEFAULT_BRAND;
