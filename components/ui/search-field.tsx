"use client";

import { useEffect, useRef } from "react";
import { SEARCH_MAX_CHARACTERS } from "#lib/contract/limits";
import { Button } from "./button";
import { CONTROL } from "./field";

interface SearchFieldProps {
  /** What can be searched for. */
  readonly label: string;
  /** The text that is searched for now. */
  readonly value: string;
  readonly onSearch: (text: string) => void;
  readonly className?: string;
}

/** A search that applies when it is submitted. */
export function SearchField({ label, value, onSearch, className = "" }: SearchFieldProps) {
  const input = useRef<HTMLInputElement>(null);
  // The address changes without this field, too: back and forward.
  useEffect(() => {
    if (input.current !== null) input.current.value = value;
  }, [value]);
  return (
    <search className={className}>
      <form
        noValidate
        className="flex gap-2"
        onSubmit={(event) => {
          event.preventDefault();
          onSearch(String(new FormData(event.currentTarget).get("q") ?? "").trim());
        }}
      >
        <input
          ref={input}
          type="search"
          name="q"
          aria-label={label}
          placeholder={label}
          defaultValue={value}
          maxLength={SEARCH_MAX_CHARACTERS}
          className={CONTROL}
        />
        <Button type="submit">Search</Button>
      </form>
    </search>
  );
}
