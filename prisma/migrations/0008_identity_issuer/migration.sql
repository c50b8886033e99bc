-- A subject is unique only at its issuer. Rows of the generic OpenID provider get theirs when the service starts, because only its
-- settings name it; so do rows that a node of the previous release adds meanwhile.
ALTER TABLE "identity"
  ADD COLUMN "id" UUID NOT NULL DEFAULT gen_random_uuid(),
  ADD COLUMN "issuer" TEXT NOT NULL DEFAULT '';
UPDATE "identity" SET "issuer" = 'https://accounts.google.com' WHERE "provider" = 'google';
UPDATE "identity" SET "issuer" = 'https://github.com/login/oauth' WHERE "provider" = 'github';
ALTER TABLE "identity" DROP CONSTRAINT "identity_pkey", ADD CONSTRAINT "identity_pkey" PRIMARY KEY ("id");
CREATE UNIQUE INDEX "identity_issuer_subject_key" ON "identity"("issuer", "subject");
