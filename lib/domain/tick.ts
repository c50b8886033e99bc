/** A price state as it enters the engine, already in the service's terms. */
export interface Tick {
  readonly ticker: string;
  /** Unix milliseconds. */
  readonly time_msc: number;
  readonly bid: number;
  readonly ask: number;
  /** Real volume, where the provider has one. */
  readonly volume?: number | undefined;
}
