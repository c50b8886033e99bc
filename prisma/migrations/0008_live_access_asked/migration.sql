-- Since when an account asks for live access. Null for one that does not, and for one whose request an operator decided.
ALTER TABLE "account" ADD COLUMN "live_asked_at" TIMESTAMPTZ(3);
