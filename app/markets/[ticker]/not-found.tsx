import type { Metadata } from "next";
import { NotCarried } from "#components/markets/not-carried";
import { PageMain } from "#components/shell/page-main";

export const metadata: Metadata = {
  title: "Not carried",
  description: "This service does not carry an instrument with this ticker.",
  openGraph: { images: [] },
  twitter: { images: [] },
};

/** The page of a ticker that is not listed. It reads nothing: Next renders it along with every page of a market. */
export default function NotFound() {
  return (
    <PageMain>
      <NotCarried />
    </PageMain>
  );
}
