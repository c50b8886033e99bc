import type { SWRConfiguration } from "swr";

/**
 * Options that read again and again while the page is visible, and as soon as it is visible or online again.
 * @param pauseMs from one answer to the next request, also after a failure; a function of the latest answer where it varies
 */
export function polling<Data, Failure>(
  pauseMs: number | ((latest: Data | undefined) => number),
): SWRConfiguration<Data, Failure> {
  return {
    refreshInterval: pauseMs,
    dedupingInterval: 0,
    focusThrottleInterval: 0,
    revalidateOnFocus: true,
    shouldRetryOnError: true,
    onErrorRetry: (_failure, _key, _config, revalidate, { retryCount }) => {
      setTimeout(() => void revalidate({ retryCount }), typeof pauseMs === "number" ? pauseMs : pauseMs(undefined));
    },
  };
}
