/** The chosen theme; without a choice, the system's own. */
export const THEMES = ["light", "system", "dark"] as const;
export type Theme = (typeof THEMES)[number];

/** Cookie with the choice; read by the server, so that pages are rendered in the right colours. */
export const THEME_COOKIE = "theme";

/** The choice in a cookie; anything unknown means the system's. */
export function themeOf(cookie: string | undefined): Theme {
  return THEMES.find((theme) => theme === cookie) ?? "system";
}
