import type { NewRecoveryCodes, SecondFactors } from "#lib/contract/second-factor";

/** What the parts about one kind of second factor get. */
export interface FactorProps {
  /** Undefined while loading. */
  readonly factors: SecondFactors | undefined;
  /** True while none can be added. */
  readonly disabled: boolean;
  /** Called after a change, with the recovery codes that it made. */
  readonly onChange: (announcement: string, made?: NewRecoveryCodes) => void;
}
