"use client";

import type { ComponentProps, ReactNode } from "react";
import { FORM_ID } from "./request-bar";
import { RequestFields } from "./request-fields";

interface RequestFormProps extends ComponentProps<typeof RequestFields> {
  readonly onSubmit: () => void;
  /** Shown above the parameters: the key. */
  readonly head: ReactNode;
}

/** The inputs of an operation below its key. Enter sends. */
export function RequestForm({ onSubmit, head, ...fields }: RequestFormProps) {
  return (
    <form
      id={FORM_ID}
      noValidate
      onSubmit={(event) => {
        event.preventDefault();
        onSubmit();
      }}
      className="flex flex-col gap-5"
    >
      {head}
      <RequestFields {...fields} />
    </form>
  );
}
