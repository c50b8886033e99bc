/** A sentence of the service without its marks of code, for places that show plain text alone. */
export const plainText = (text: string): string => text.replaceAll("`", "");
