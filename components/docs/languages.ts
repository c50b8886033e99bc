/** Cookie with the languages a reader chose, the latest first; read by the server, so that pages are rendered with them. */
export const LANGUAGES_COOKIE = "code_languages";
const LANGUAGES_MAX_COUNT = 8;
const LANGUAGE = /^[\w#+. ()-]{1,40}$/;

/** The languages in a cookie; unknown ones are ignored. */
export function languagesOf(cookie: string | undefined): string[] {
  const texts = (cookie ?? "").split(",").filter((text) => LANGUAGE.test(text));
  return texts.slice(0, LANGUAGES_MAX_COUNT);
}

/** The languages after another choice. */
export function withLanguage(languages: readonly string[], chosen: string): string[] {
  return [chosen, ...languages.filter((language) => language !== chosen)].slice(0, LANGUAGES_MAX_COUNT);
}
