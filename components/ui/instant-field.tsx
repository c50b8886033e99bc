"use client";

import type { ComponentProps } from "react";
import { useState } from "react";
import { instantOf, localText } from "../portal/local-time";
import { useTimeZone, ZoneName } from "../portal/time";
import { TextField } from "./field";

interface InstantFieldProps extends Omit<ComponentProps<typeof TextField>, "type" | "value" | "defaultValue" | "onChange"> {
  /** What it begins with, ISO 8601. */
  readonly start?: string | null;
  /** Called with the instant, as `instantOf` has it. */
  readonly onChange?: (instant: string) => void;
}

/**
 * A date and time in the zone that the page shows, which its hint names. Its form has the text: `instantOf` makes an instant of it.
 * When the zone changes, what was typed becomes the same instant in the new one.
 */
export function InstantField({ start = null, onChange, hint, ...rest }: InstantFieldProps) {
  const zone = useTimeZone();
  const [typed, setTyped] = useState({ text: localText(start, zone), zone });
  const text = typed.zone === zone ? typed.text : localText(instantOf(typed.text, typed.zone), zone, typed.text.length);
  return (
    <TextField
      {...rest}
      type="datetime-local"
      value={text}
      onChange={({ target }) => {
        setTyped({ text: target.value, zone });
        onChange?.(instantOf(target.value, zone));
      }}
      hint={
        <>
          Time in <ZoneName />. {hint}
        </>
      }
    />
  );
}
