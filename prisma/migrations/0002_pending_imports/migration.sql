-- An import shows once all of it is stored. Until then it is pending, and has a time of undo: nothing that reads history counts it, in
-- the release before this one either. "command" is what the same command continues it by.
ALTER TABLE "backfill" ADD COLUMN "pending" BOOLEAN NOT NULL DEFAULT false;
ALTER TABLE "backfill" ADD COLUMN "command" TEXT;

-- The name of the content of which these are known: "plain" content is what shows where no other layer says anything, and "sides" of its
-- rows have ask and mid prices. So it need not be read to show it. The release before this one changes "content" alone.
ALTER TABLE "history_layer" ADD COLUMN "plain" TEXT COLLATE "C";
ALTER TABLE "history_layer" ADD COLUMN "sides" INTEGER;
