import type { SWRConfiguration } from "swr";

/**
 * SWR options that reload repeatedly while the page is visible, and as soon as it becomes visible or online again.
 * @param pauseMs from one answer to the next request, also after a failure
 */
export function polling(pauseMs: number) {
  return {
    refreshInterval: pauseMs,
    dedupingInterval: 0,
    focusThrottleInterval: 0,
    revalidateOnFocus: true,
    shouldRetryOnError: true,
    onErrorRetry: (_failure, _key, _config, revalidate, { retryCount }) => {
      setTimeout(() => void revalidate({ retryCount }), pauseMs);
    },
  } as const satisfies SWRConfiguration;
}
