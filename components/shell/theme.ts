/** A choice of theme; the system's own when there is none. */
export const THEMES = ["light", "system", "dark"] as const;
export type Theme = (typeof THEMES)[number];

/** Cookie that holds the choice; read by the server, so that a page comes in the right colours at once. */
export const THEME_COOKIE = "theme";

/** The choice a cookie holds; anything unknown is the system's. */
export function themeOf(cookie: string | undefined): Theme {
  return THEMES.find((theme) => theme === cookie) ?? "system";
}
