/** Cookie with a reader's choice of colors; read by the server, so that pages are rendered in them. */
export const THEME_COOKIE = "theme";
/** The choices; without one, the system's own. */
export const THEMES = ["light", "system", "dark"] as const;
export type Theme = (typeof THEMES)[number];

/** The choice in a cookie; anything unknown means the system's. */
export function themeOf(cookie: string | undefined): Theme {
  return THEMES.find((theme) => theme === cookie) ?? "system";
}
