-- Days of history that an account may read; the smaller one of its plan's and its own counts. Null is no bound of its own.
ALTER TABLE "account" ADD COLUMN "history_days" INTEGER;
