import { type InferPageType, loader } from "fumadocs-core/source";
import { guides, reference } from "../generated/docs/server";

/** Every page of the documentation: the guides, and what is printed from the contract. */
export const docs = loader({ guides: guides.toFumadocsSource(), reference: reference.toFumadocsSource() }, { baseUrl: "/docs" });

/** One page: its address, title, outline and content. */
export type DocsPage = InferPageType<typeof docs>;

/** The day a page was last edited, as YYYY-MM-DD; undefined for one that is printed from the contract. */
export function updatedOn(page: DocsPage): string | undefined {
  return page.type === "guides" ? page.data.updated : undefined;
}
