import type { RehypeCodeOptions } from "fumadocs-core/mdx-plugins";
import { pageSchema } from "fumadocs-core/source/schema";
import { defineConfig, defineDocs } from "fumadocs-mdx/config";
import { z } from "zod";
import { highlighting } from "./highlight";
import { markdownOf } from "./page-markdown";
import { operationColumns } from "./rehype-operation-columns";
import { schemaTrees } from "./rehype-schema-tree";
import { nameService } from "./rehype-service-name";
import { labelCells } from "./rehype-table-labels";
import { expandContract } from "./remark-contract";

const postprocess = { includeProcessedMarkdown: markdownOf };

/** What is written by hand. */
export const guides = defineDocs({
  dir: "lib/docs/guides",
  docs: {
    // The day of the last edit is in the file, so that a clone without history shows the same.
    schema: pageSchema.extend({
      description: z.string().min(1),
      updated: z.iso.date(),
      // Words a reader may search for that are not in the text, or not first in it.
      keywords: z.array(z.string().min(1)).optional(),
    }),
    postprocess,
  },
});

/** What is printed from the contract, by `npm run generate`. */
export const reference = defineDocs({
  dir: "lib/generated/reference",
  docs: { schema: pageSchema.extend({ description: z.string().min(1) }), postprocess },
});

export default defineConfig({
  mdxOptions: {
    // First, so that the tables are searched and linked like all else.
    remarkPlugins: (preset) => [expandContract, ...preset],
    remarkCodeTabOptions: { Tabs: "Tabs" },
    remarkImageOptions: false,
    remarkNpmOptions: false,
    rehypePlugins: (preset) => [schemaTrees, labelCells, operationColumns, ...preset, nameService],
    rehypeCodeOptions: highlighting satisfies RehypeCodeOptions,
  },
});
