-- What proves that the reader of a link is who asked for it: the browser (SHA-256 of its secret) or the password. Both are null
-- in links of the previous release, which then need the user's current password.
ALTER TABLE "one_time_token" ADD COLUMN "browser" BYTEA, ADD COLUMN "password_hash" TEXT;
