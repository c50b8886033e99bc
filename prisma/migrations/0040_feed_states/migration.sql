-- What a minute was like, beside the numbers it was judged by. Null in rows that the release before writes.
ALTER TABLE "health_sample" ADD COLUMN "state" TEXT, ADD COLUMN "away" BOOLEAN, ADD COLUMN "stored" BOOLEAN;
