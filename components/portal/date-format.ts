const kept = new Map<string, Intl.DateTimeFormat>();

/**
 * The format of a shape, made once. Each one holds some 80 KiB outside the JavaScript heap, where nothing tells the garbage
 * collector: a page that made one for each cell took gigabytes under load.
 */
export function dateFormat(shape: Intl.DateTimeFormatOptions): Intl.DateTimeFormat {
  const name = JSON.stringify(shape);
  const known = kept.get(name);
  if (known !== undefined) return known;
  const made = new Intl.DateTimeFormat("en-GB", shape);
  kept.set(name, made);
  return made;
}
