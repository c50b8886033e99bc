-- When a problem that comes and goes began this time; null while the last look found it well.
ALTER TABLE "operator_warning" ADD COLUMN "began_at" TIMESTAMPTZ(3);
