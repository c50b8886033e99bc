-- Authenticator apps, passkeys and recovery codes, and when a session was last proved to be its owner's.

-- AlterTable
ALTER TABLE "portal_user" ADD COLUMN "totp_secret" BYTEA,
ADD COLUMN     "totp_since" TIMESTAMPTZ(3),
ADD COLUMN     "totp_step" INTEGER NOT NULL DEFAULT 0;

-- AlterTable: sessions of the previous release were proved when they started; one it starts meanwhile counts from now.
ALTER TABLE "portal_session" ADD COLUMN "proved_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP;
UPDATE "portal_session" SET "proved_at" = "created_at";

-- CreateTable
CREATE TABLE "passkey" (
    "id" UUID NOT NULL DEFAULT gen_random_uuid(),
    "user_id" UUID NOT NULL,
    "name" TEXT NOT NULL,
    "credential_id" BYTEA NOT NULL,
    "public_key" BYTEA NOT NULL,
    "counter" BIGINT NOT NULL DEFAULT 0,
    "transports" TEXT[],
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "last_used_at" TIMESTAMPTZ(3),
    CONSTRAINT "passkey_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "recovery_code" (
    "hash" BYTEA NOT NULL,
    "user_id" UUID NOT NULL,
    "used_at" TIMESTAMPTZ(3),
    CONSTRAINT "recovery_code_pkey" PRIMARY KEY ("hash")
);

-- CreateTable
CREATE TABLE "spent_challenge" (
    "hash" BYTEA NOT NULL,
    "expires_at" TIMESTAMPTZ(3) NOT NULL,
    CONSTRAINT "spent_challenge_pkey" PRIMARY KEY ("hash")
);

-- CreateIndex
CREATE UNIQUE INDEX "passkey_credential_id_key" ON "passkey"("credential_id");

-- CreateIndex
CREATE INDEX "passkey_user_id_idx" ON "passkey"("user_id");

-- CreateIndex
CREATE INDEX "recovery_code_user_id_idx" ON "recovery_code"("user_id");

-- CreateIndex
CREATE INDEX "spent_challenge_expires_at_idx" ON "spent_challenge"("expires_at");

-- AddForeignKey
ALTER TABLE "passkey" ADD CONSTRAINT "passkey_user_id_fkey" FOREIGN KEY ("user_id") REFERENCES "portal_user"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "recovery_code" ADD CONSTRAINT "recovery_code_user_id_fkey" FOREIGN KEY ("user_id") REFERENCES "portal_user"("id") ON DELETE CASCADE ON UPDATE CASCADE;
