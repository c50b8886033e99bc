import type { ComponentProps } from "react";

/** The kind of action: the main one of the page, a secondary one, a quiet one, a destructive one. */
type ButtonKind = "primary" | "secondary" | "ghost" | "danger";

const BASE =
  "inline-flex min-h-9 items-center justify-center gap-2 whitespace-nowrap rounded-md px-3.5 font-medium text-sm transition-[filter,background-color] pointer-coarse:min-h-11 disabled:cursor-not-allowed disabled:opacity-55 aria-disabled:cursor-not-allowed aria-disabled:opacity-55 motion-reduce:transition-none";
const KINDS: Record<ButtonKind, string> = {
  primary: "bg-accent-ground text-white enabled:hover:brightness-110",
  secondary: "border border-edge bg-surface text-ink hover:bg-sunken",
  ghost: "text-ink-soft hover:bg-sunken hover:text-ink",
  danger: "bg-danger-ground text-white enabled:hover:brightness-110",
};

/** The classes of a button, for links that look like one. */
export function buttonClass(kind: ButtonKind): string {
  return `${BASE} ${KINDS[kind]}`;
}

type ButtonProps = ComponentProps<"button"> & {
  readonly kind?: ButtonKind;
  /** True while its action is running: it cannot be pressed again. */
  readonly busy?: boolean;
};

/** A button; `type` is "button" by default. It keeps the focus while it is busy, which `disabled` would drop. */
export function Button({ kind = "secondary", busy = false, type = "button", className = "", onClick, ...rest }: ButtonProps) {
  return (
    <button
      {...rest}
      type={busy ? "button" : type}
      onClick={busy ? undefined : onClick}
      aria-disabled={busy || undefined}
      aria-busy={busy || undefined}
      className={`${buttonClass(kind)} ${className}`}
    />
  );
}
