// Loaded by a browser once the reader leaves a field, to check it: the order of these imports matters.
import "./jitless";
import type { z } from "zod";
import {
  CreateKeyForm,
  EditKeyForm,
  EmailForm,
  ForgotForm,
  PasswordForm,
  ProfileForm,
  ResetForm,
  SignInForm,
  SignUpForm,
} from "#lib/contract/portal";
import { validate } from "#lib/contract/validate";

const FORMS = {
  createKey: CreateKeyForm,
  editKey: EditKeyForm,
  email: EmailForm,
  forgot: ForgotForm,
  password: PasswordForm,
  profile: ProfileForm,
  reset: ResetForm,
  signIn: SignInForm,
  signUp: SignUpForm,
} satisfies Record<string, z.ZodObject>;

/** A form of the portal whose fields are checked when the reader leaves them. */
export type FormName = keyof typeof FORMS;

/** What the service would answer about one field of a form, checked with its own schema; undefined for a field it would take. */
export function fieldIssue(form: FormName, field: string, body: Readonly<Record<string, unknown>>): string | undefined {
  const schema = (FORMS[form] as z.ZodObject).shape[field];
  if (schema === undefined) return undefined;
  const validated = validate(schema, body[field], { place: (path) => [field, ...path] });
  return "refusals" in validated ? validated.refusals[0].detail : undefined;
}
