/** Cookie with the languages a reader chose, the latest first; read by the server, so that a page comes with them. */
export const LANGUAGES_COOKIE = "code_languages";
const LANGUAGES_MAX_COUNT = 8;
const LANGUAGE = /^[\w#+. ()-]{1,40}$/;

/** The languages a cookie holds; what is no language is left out. */
export function languagesOf(cookie: string | undefined): string[] {
  const texts = (cookie ?? "").split(",").filter((text) => LANGUAGE.test(text));
  return texts.slice(0, LANGUAGES_MAX_COUNT);
}

/** The languages once one more was chosen. */
export function withLanguage(languages: readonly string[], chosen: string): string[] {
  return [chosen, ...languages.filter((language) => language !== chosen)].slice(0, LANGUAGES_MAX_COUNT);
}
