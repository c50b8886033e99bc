"use client";

import { useState } from "react";
import useSWR from "swr/immutable";
import type { Bearers } from "../portal/bearers";
import type { Credential } from "../portal/credential";
import { readInstruments } from "./send";

/**
 * The instruments that the chosen key may read, loaded when a field first needs them, and again after a failure.
 * @param path of the operation that lists them
 * @param chosen stands for the key
 */
export function useInstruments(path: string, bearers: Bearers, chosen: string, credential: Credential | undefined) {
  const [wanted, setWanted] = useState(false);
  const { data, error, mutate } = useSWR(
    wanted && credential !== undefined ? ["instruments", chosen] : null,
    () => readInstruments(bearers, path, credential),
    { shouldRetryOnError: false },
  );
  const want = () => {
    setWanted(true);
    if (error !== undefined) void mutate();
  };
  return { instruments: data, want };
}
