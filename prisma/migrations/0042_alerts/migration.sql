-- Which alerts an account switched off, for example quota.email. None is off at first.
ALTER TABLE "account" ADD COLUMN "alerts_off" TEXT[] DEFAULT ARRAY[]::TEXT[];

-- When and from which network a key was last used after it had ended, and the last such use that was looked at for an alert.
ALTER TABLE "api_key"
  ADD COLUMN "refused_at" TIMESTAMPTZ(3),
  ADD COLUMN "refused_address" TEXT,
  ADD COLUMN "refusal_seen_at" TIMESTAMPTZ(3);
