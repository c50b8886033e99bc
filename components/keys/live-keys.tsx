import type { PortalKey } from "#lib/contract/portal";
import { Checkbox } from "../ui/select";
import { KeyMark } from "./key-text";

/** Offers to revoke the keys that still work, in case somebody else has them; the field is `revoke_keys`. */
export function LiveKeys({ keys }: { keys: readonly PortalKey[] }) {
  if (keys.length === 0) return null;
  return (
    <div className="space-y-3">
      <p className="text-sm leading-6">These API keys still work. If someone else used your account, revoke them.</p>
      <ul className="max-h-40 space-y-1 overflow-y-auto text-sm leading-6">
        {keys.map((key) => (
          <li key={key.id} className="[overflow-wrap:anywhere]">
            {key.name} <KeyMark apiKey={key} />
          </li>
        ))}
      </ul>
      <Checkbox name="revoke_keys" label="Revoke all of these keys" hint="Programs that use them stop working at once." />
    </div>
  );
}
