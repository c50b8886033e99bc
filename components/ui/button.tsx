import type { ComponentProps } from "react";

/** What pressing it means: the one thing to do here, something beside it, something quiet, something that destroys. */
type ButtonKind = "primary" | "secondary" | "ghost" | "danger";

const BASE =
  "inline-flex min-h-9 items-center justify-center gap-2 whitespace-nowrap rounded-md px-3.5 font-medium text-sm transition-[filter,background-color] pointer-coarse:min-h-11 disabled:cursor-not-allowed disabled:opacity-55 motion-reduce:transition-none";
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
  /** True while what it started is under way: it cannot be pressed again. */
  readonly busy?: boolean;
};

/** A button; `type` is "button" unless said otherwise. */
export function Button({ kind = "secondary", busy = false, type = "button", className = "", disabled, ...rest }: ButtonProps) {
  return (
    <button
      {...rest}
      type={type}
      disabled={disabled === true || busy}
      aria-busy={busy || undefined}
      className={`${buttonClass(kind)} ${className}`}
    />
  );
}
