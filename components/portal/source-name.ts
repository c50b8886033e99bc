/** What a page calls the provider of the live venue, whose slug this is. The slug of pushed ticks names nobody. */
export const sourceName = (provider: string): string => (provider === "push" ? "pushed ticks" : provider.replaceAll(",", ", "));
