/** Reads what this device remembers under a name; undefined for nothing, for rubbish, and where the browser keeps nothing. */
export function recall(name: string): unknown {
  try {
    return JSON.parse(localStorage.getItem(name) ?? "null") ?? undefined;
  } catch {
    return undefined;
  }
}

/** Remembers a value on this device, as far as the browser allows it. */
export function remember(name: string, value: unknown): void {
  try {
    localStorage.setItem(name, JSON.stringify(value));
  } catch {
    // Full or switched off: the page works without.
  }
}
