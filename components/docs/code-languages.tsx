"use client";

import { createContext, type ReactNode, useContext, useMemo, useState } from "react";
import { LANGUAGES_COOKIE, withLanguage } from "./languages";

const COOKIE_MAX_AGE_S = 31_536_000;

interface Languages {
  /** Most recent choice first. */
  readonly chosen: readonly string[];
  readonly choose: (language: string) => void;
}

const Context = createContext<Languages>({ chosen: [], choose: () => undefined });

/** Keeps the reader's languages for all code on a page, and for later pages. */
export function CodeLanguages({ chosen, children }: { chosen: readonly string[]; children: ReactNode }) {
  const [languages, setLanguages] = useState(chosen);
  const value = useMemo<Languages>(() => {
    const choose = (language: string) => {
      const next = withLanguage(languages, language);
      setLanguages(next);
      const text = encodeURIComponent(next.join(","));
      // biome-ignore lint/suspicious/noDocumentCookie: not every browser in use has the Cookie Store
      document.cookie = `${LANGUAGES_COOKIE}=${text}; path=/; max-age=${COOKIE_MAX_AGE_S}; samesite=lax`;
    };
    return { chosen: languages, choose };
  }, [languages]);
  return <Context value={value}>{children}</Context>;
}

/** The reader's languages, and a function to choose another. */
export function useCodeLanguages(): Languages {
  return useContext(Context);
}
