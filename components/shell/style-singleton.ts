import { useEffect } from "react";

/**
 * Replaces the package of the same name (next.config.ts), which dialogs use to stop the page behind them from scrolling. The
 * package inserts a `<style>` element, which needs a nonce; a constructed style sheet needs none, so that pages without a nonce
 * can open dialogs too.
 * @returns a component that applies `styles` while at least one of its instances is mounted
 */
export function styleSingleton() {
  let mounted = 0;
  let sheet: CSSStyleSheet | undefined;

  function add(styles: string): void {
    mounted += 1;
    if (mounted > 1) return;
    sheet = new CSSStyleSheet();
    sheet.replaceSync(styles);
    document.adoptedStyleSheets.push(sheet);
  }

  function remove(): void {
    mounted -= 1;
    if (mounted > 0) return;
    document.adoptedStyleSheets = document.adoptedStyleSheets.filter((adopted) => adopted !== sheet);
  }

  // biome-ignore lint/correctness/noComponentHookFactories: the package makes components, and so must this
  return function Styles({ styles, dynamic = false }: { styles: string; dynamic?: boolean }): null {
    const changed = dynamic && styles;
    // biome-ignore lint/correctness/useExhaustiveDependencies: like the package, later styles count only when they are dynamic
    useEffect(() => {
      add(styles);
      return remove;
    }, [changed]);
    return null;
  };
}
