import { TextField } from "../ui/field";

/** Asks for the password once more, before a change that a borrowed browser must not make. */
export function CurrentPassword({ label = "Password", error }: { label?: string; error: string | undefined }) {
  return <TextField label={label} name="current" type="password" autoComplete="current-password" required error={error} />;
}
