import type { Metadata } from "next";
import { requireOperator } from "#app/admin/operator";
import { CalendarsView } from "#components/admin/calendars-view";

export const metadata: Metadata = { title: "Calendars" };

/** When markets are open, by their rules and by overrides. */
export default async function CalendarsPage() {
  await requireOperator("/admin/calendars");
  return <CalendarsView />;
}
