import { z } from "zod";
import { LINK_NAME_MAX_CHARACTERS, QUERY_VALUE_MAX_CHARACTERS } from "./limits";
import { LINKED_IDS } from "./linked-ids";
import { InstantField } from "./portal";
import { PLAIN_TEXT, PLAIN_TEXT_WORDS, type Venue } from "./primitives";

/** More parameters than any operation has. */
const PARAMETERS_MAX_COUNT = 20;
const PARAMETER_NAME_MAX_CHARACTERS = 40;

export const LinkForm = z.strictObject({
  name: z
    .string()
    .trim()
    .min(1, "Enter a name.")
    .max(LINK_NAME_MAX_CHARACTERS, `Use at most ${LINK_NAME_MAX_CHARACTERS} characters.`)
    .regex(PLAIN_TEXT, PLAIN_TEXT_WORDS),
  key_id: z.uuid("Choose a key."),
  operation: z.enum(LINKED_IDS),
  /** The operation's parameters as query texts; an empty one is left out. */
  parameters: z
    .record(z.string().max(PARAMETER_NAME_MAX_CHARACTERS), z.string().max(QUERY_VALUE_MAX_CHARACTERS))
    .refine((given) => Object.keys(given).length <= PARAMETERS_MAX_COUNT, `takes at most ${PARAMETERS_MAX_COUNT} items.`),
  expires_at: InstantField,
});
export type LinkForm = z.infer<typeof LinkForm>;

/** A link as its owner sees it; its address is not among it. Times are ISO 8601. */
export interface LinkInfo {
  readonly id: string;
  readonly name: string;
  readonly key_id: string;
  readonly key_name: string;
  readonly key_prefix: string;
  readonly key_last4: string;
  readonly venue: Venue;
  readonly operation: string;
  /** The text after "?" of the call it stands for. */
  readonly query: string;
  /** `no_key`: its key is not valid, or no longer has the scope `market:read`. */
  readonly state: "active" | "expired" | "no_key";
  readonly created_at: string;
  readonly expires_at: string;
  readonly last_used_at: string | null;
  readonly last_used_address: string | null;
}
