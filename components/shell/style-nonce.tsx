"use client";

import { useEffect } from "react";

/**
 * Dialogs insert a style sheet that stops the page behind them from scrolling, and take its nonce from this global. A script
 * may read its own nonce as a property although the attribute is hidden.
 */
export function StyleNonce() {
  useEffect(() => {
    const nonce = document.querySelector<HTMLScriptElement>("script[nonce]")?.nonce;
    Object.assign(globalThis, { __webpack_nonce__: nonce });
  }, []);
  return null;
}
