/** A generated page of the documentation. */
export interface ReferencePage {
  /** Path below /docs, without extension: `errors/unauthorized`. */
  readonly path: string;
  readonly title: string;
  /** One sentence without Markdown. */
  readonly description: string;
  /** Markdown, without the title. */
  readonly body: string;
}

/** Joins blocks of Markdown with blank lines; undefined ones are skipped. */
export function blocks(...parts: readonly (string | undefined)[]): string {
  return parts.filter((part) => part !== undefined && part !== "").join("\n\n");
}

/** A page as a file: frontmatter, then the body. JSON is valid YAML and takes care of quoting. */
export function pageText({ title, description, body }: ReferencePage): string {
  const front = `title: ${JSON.stringify(title)}\ndescription: ${JSON.stringify(description)}`;
  return `---\n${front}\n---\n\n${body}\n`;
}
