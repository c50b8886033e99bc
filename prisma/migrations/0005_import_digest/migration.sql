-- The SHA-256 of all that was read of a file before anything of it was stored. An import that is continued compares it: its position
-- counts in that file alone. Null for what the release before this one stored, which does not compare.
ALTER TABLE "import_job" ADD COLUMN "digest" TEXT;
