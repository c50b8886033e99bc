-- Rises with each change that an operator may be deciding on.
ALTER TABLE "account" ADD COLUMN "revision" INTEGER NOT NULL DEFAULT 1;
