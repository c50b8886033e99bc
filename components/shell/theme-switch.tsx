"use client";

import { useState } from "react";
import { THEME_COOKIE, THEMES, type Theme } from "#lib/contract/themes";
import { Segmented } from "../ui/segmented";

const COOKIE_MAX_AGE_S = 31_536_000;

const ICONS: Record<Theme, string> = {
  light:
    "M12 8a4 4 0 1 0 0 8 4 4 0 0 0 0-8M12 3v2M12 19v2M3 12h2M19 12h2M5.6 5.6l1.5 1.5M16.9 16.9l1.5 1.5M5.6 18.4l1.5-1.5M16.9 7.1l1.5-1.5",
  system: "M4 5h16v11H4zM9 20h6M12 16v4",
  dark: "M20 14.5A8 8 0 1 1 9.5 4a6.5 6.5 0 0 0 10.5 10.5",
};

function apply(theme: Theme): void {
  const { documentElement: root } = document;
  if (theme === "system") delete root.dataset.theme;
  else root.dataset.theme = theme;
  // biome-ignore lint/suspicious/noDocumentCookie: not every browser in use has the Cookie Store
  document.cookie = `${THEME_COOKIE}=${theme}; path=/; max-age=${COOKIE_MAX_AGE_S}; samesite=lax`;
}

/** Light, system, or dark. */
export function ThemeSwitch({ chosen }: { chosen: Theme }) {
  const [theme, setTheme] = useState(chosen);
  const choices = THEMES.map((choice) => ({
    value: choice,
    name: choice,
    label: (
      <svg viewBox="0 0 24 24" aria-hidden="true" className="size-4" fill="none" stroke="currentColor" strokeWidth="1.75">
        <path d={ICONS[choice]} strokeLinecap="round" strokeLinejoin="round" />
      </svg>
    ),
  }));
  const choose = (choice: Theme) => {
    setTheme(choice);
    apply(choice);
  };
  return <Segmented legend="Theme" shape="pictures" choices={choices} value={theme} onChange={choose} />;
}
