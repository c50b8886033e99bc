"use client";

import { ROLE_WORDS, ROLES, type Role } from "#lib/contract/roles";
import { Field } from "../ui/field";
import { Select } from "../ui/select";

/** A role as pages show it. */
export const roleText = (role: Role): string => role.charAt(0).toUpperCase() + role.slice(1);

const OPTIONS = ROLES.map((role) => ({ value: role, label: roleText(role) }));

/** The choice of a role, with what it may do. */
export function RoleSelect({ role, onChange }: { role: Role; onChange: (role: Role) => void }) {
  return (
    <Field label="Role" hint={`${ROLE_WORDS[role]}.`}>
      {(control) => <Select {...control} name="role" options={OPTIONS} value={role} onChange={onChange} />}
    </Field>
  );
}
