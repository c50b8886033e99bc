-- Secrets of providers that change while the service runs, such as a token that is renewed; encrypted.

-- CreateTable
CREATE TABLE "provider_secret" (
    "name" TEXT NOT NULL,
    "sealed" BYTEA NOT NULL,
    "updated_at" TIMESTAMPTZ(3) NOT NULL,
    CONSTRAINT "provider_secret_pkey" PRIMARY KEY ("name")
);
