import type { StructuredData } from "fumadocs-core/mdx-plugins";
import { createFromSource } from "fumadocs-core/search/server";
import { docs } from "./source";

/** What stands under one heading as one text: a hit leads to a heading anyway, and the index is a fraction of the size. */
function bySection({ headings, contents }: StructuredData): StructuredData {
  const texts = new Map<string | undefined, string[]>();
  for (const { heading, content } of contents) texts.set(heading, [...(texts.get(heading) ?? []), content]);
  return { headings, contents: [...texts].map(([heading, parts]) => ({ heading, content: parts.join(" ") })) };
}

/** The search index over every page and section, as the search in the browser loads it. */
export function searchIndex(): Promise<Response> {
  const server = createFromSource(docs, {
    // Hits come by how well they fit, never by a field: an order for each field would be a quarter of the index.
    sort: { enabled: false },
    buildIndex: ({ url, data }) => ({
      id: url,
      url,
      title: data.title,
      ...(data.description !== undefined && { description: data.description }),
      structuredData: bySection(data.structuredData),
    }),
  });
  return server.staticGET();
}
