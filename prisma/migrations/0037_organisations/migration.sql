-- Accounts become organisations: users are their members, by invitation. Each user of today is the owner of an organisation of one.
-- previous release: it keeps on serving keys and sessions, because it names no new column and writes no more than one user an account. Until it
-- has ended, it cannot delete accounts, and whoever signs up there becomes a member with the next sign-in.

-- CreateTable
CREATE TABLE "membership" (
    "account_id" UUID NOT NULL,
    "user_id" UUID NOT NULL,
    "role" TEXT NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "membership_pkey" PRIMARY KEY ("account_id","user_id")
);
CREATE INDEX "membership_user_id_idx" ON "membership"("user_id");
ALTER TABLE "membership" ADD CONSTRAINT "membership_account_id_fkey" FOREIGN KEY ("account_id") REFERENCES "account"("id") ON DELETE CASCADE ON UPDATE CASCADE;
ALTER TABLE "membership" ADD CONSTRAINT "membership_user_id_fkey" FOREIGN KEY ("user_id") REFERENCES "portal_user"("id") ON DELETE CASCADE ON UPDATE CASCADE;
INSERT INTO "membership" ("account_id", "user_id", "role", "created_at")
    SELECT "account_id", "id", 'owner', "created_at" FROM "portal_user";

-- CreateTable
CREATE TABLE "invitation" (
    "id" UUID NOT NULL,
    "account_id" UUID NOT NULL,
    "email" TEXT NOT NULL,
    "role" TEXT NOT NULL,
    "hash" BYTEA NOT NULL,
    "mailed" BOOLEAN NOT NULL,
    "invited_by" UUID,
    "inviter" TEXT NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    "expires_at" TIMESTAMPTZ(3) NOT NULL,
    "used_at" TIMESTAMPTZ(3),

    CONSTRAINT "invitation_pkey" PRIMARY KEY ("id")
);
CREATE UNIQUE INDEX "invitation_hash_key" ON "invitation"("hash");
CREATE INDEX "invitation_account_id_created_at_idx" ON "invitation"("account_id", "created_at");
CREATE INDEX "invitation_invited_by_idx" ON "invitation"("invited_by");
ALTER TABLE "invitation" ADD CONSTRAINT "invitation_account_id_fkey" FOREIGN KEY ("account_id") REFERENCES "account"("id") ON DELETE CASCADE ON UPDATE CASCADE;
ALTER TABLE "invitation" ADD CONSTRAINT "invitation_invited_by_fkey" FOREIGN KEY ("invited_by") REFERENCES "portal_user"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AlterTable
ALTER TABLE "account" ADD COLUMN "waiting_since" TIMESTAMPTZ(3),
ADD COLUMN "require_second_factor" BOOLEAN NOT NULL DEFAULT false,
ADD COLUMN "sign_in_domain" TEXT;
CREATE UNIQUE INDEX "account_sign_in_domain_key" ON "account"("sign_in_domain");

-- AlterTable
ALTER TABLE "api_key" ADD COLUMN "made_by" UUID;
ALTER TABLE "api_key" ADD CONSTRAINT "api_key_made_by_fkey" FOREIGN KEY ("made_by") REFERENCES "portal_user"("id") ON DELETE SET NULL ON UPDATE CASCADE;
-- Until now each account had one user, who made its keys unless an operator did at the command line.
UPDATE "api_key" SET "made_by" = "portal_user"."id" FROM "portal_user" WHERE "portal_user"."account_id" = "api_key"."account_id";

-- AlterTable: an organisation is deleted only when no user works in it any more.
ALTER TABLE "portal_user" ADD COLUMN "terms_version" TEXT,
ADD COLUMN "terms_at" TIMESTAMPTZ(3);
ALTER TABLE "portal_user" DROP CONSTRAINT "portal_user_account_id_fkey";
ALTER TABLE "portal_user" ADD CONSTRAINT "portal_user_account_id_fkey" FOREIGN KEY ("account_id") REFERENCES "account"("id") ON DELETE RESTRICT ON UPDATE CASCADE;
DROP INDEX "portal_user_account_id_key";
CREATE INDEX "portal_user_account_id_idx" ON "portal_user"("account_id");

-- AlterTable
ALTER TABLE "one_time_token" ADD COLUMN "invitation_id" UUID;
ALTER TABLE "one_time_token" ADD CONSTRAINT "one_time_token_invitation_id_fkey" FOREIGN KEY ("invitation_id") REFERENCES "invitation"("id") ON DELETE SET NULL ON UPDATE CASCADE;
