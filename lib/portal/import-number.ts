/** The number of an import in a path; 0, which no import has, for any other text. */
export const importNumber = (text = "") => (/^[1-9]\d{0,8}$/.test(text) ? Number(text) : 0);
