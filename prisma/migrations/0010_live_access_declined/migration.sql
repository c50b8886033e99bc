-- When an operator declined the request of an account for live access; null for one that was not declined, and once it was granted.
ALTER TABLE "account" ADD COLUMN "live_declined_at" TIMESTAMPTZ(3);
