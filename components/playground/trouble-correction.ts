/** A suggested value for one that was rejected. */
export interface Correction {
  readonly parameter: string;
  readonly value: string;
  /** For a list: the element to replace. */
  readonly refused?: string;
}

/** The corrected value of a parameter: in a list only the refused element changes. */
export function corrected(before: string, { value, refused }: Correction): string {
  const elements = before.split(",");
  const at = elements.findIndex((element) => element.trim() === refused);
  return at < 0 ? value : elements.with(at, value).join(",");
}
