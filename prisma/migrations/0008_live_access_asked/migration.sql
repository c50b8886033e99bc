-- Since when an account asks for live access, null for one that does not, and for one whose request an operator decided; and when
-- operators were told of it.
ALTER TABLE "account" ADD COLUMN "live_asked_at" TIMESTAMPTZ(3);
ALTER TABLE "account" ADD COLUMN "live_told_at" TIMESTAMPTZ(3);
