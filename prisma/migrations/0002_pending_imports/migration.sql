-- An import shows once all of it is stored. Until then it is pending, and has a time of undo: nothing that reads history counts it, in
-- the release before this one either. "command" is what the same command continues it by.
ALTER TABLE "backfill" ADD COLUMN "pending" BOOLEAN NOT NULL DEFAULT false;
ALTER TABLE "backfill" ADD COLUMN "command" TEXT;
