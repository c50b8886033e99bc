import { notFound } from "next/navigation";
import { brandHere } from "#app/brand";
import { docsHere } from "#app/docs-here";
import { readerAddress, readerWords } from "#app/reader-address";
import { pageMarkdown } from "#lib/docs/page-text";
import { atomResponse } from "#server/pages/atom";
import { changelogFeed } from "#server/pages/changelog-feed";
import { otherMethods } from "#server/pages/methods";

/** The changelog for feed readers; 404 where the docs do not have it. */
export async function GET(): Promise<Response> {
  const docs = docsHere();
  const page = docs.page(["changelog"]) ?? notFound();
  const markdown = await pageMarkdown(page, docs, await readerWords());
  return atomResponse(changelogFeed(await readerAddress(), brandHere().name, markdown));
}

export const { DELETE, OPTIONS, PATCH, POST, PUT } = otherMethods({ GET });
