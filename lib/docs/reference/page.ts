/** A generated page of the documentation. */
export interface ReferencePage {
  /** Below /docs, without an ending: `errors/unauthorized`. */
  readonly path: string;
  readonly title: string;
  /** One sentence without Markdown. */
  readonly description: string;
  /** Markdown, without the title. */
  readonly body: string;
}

/** Text between two blank lines; what is undefined is left out. */
export function blocks(...parts: readonly (string | undefined)[]): string {
  return parts.filter((part) => part !== undefined && part !== "").join("\n\n");
}

/** Markdown marks taken out of a sentence. */
export function plain(text: string): string {
  return text.replaceAll("`", "");
}

/** The file of a page: what it is called, then what it says. JSON is YAML, and quotes what needs it. */
export function pageText({ title, description, body }: ReferencePage): string {
  const front = `title: ${JSON.stringify(title)}\ndescription: ${JSON.stringify(description)}`;
  return `---\n${front}\n---\n\n${body}\n`;
}
