-- The audit log only grows, with one exception: after 30 days the address of an entry is cut to its network
-- (ADDRESS_RETENTION_S in lib/contract/portal.ts). A day less here, because clocks differ.
DO $$
BEGIN
  IF to_regproc('public.keep_audit_entry') IS NULL THEN
    RETURN;
  END IF;
  DROP TRIGGER audit_entry_kept ON "audit_entry";
  CREATE TRIGGER audit_entry_kept BEFORE DELETE ON "audit_entry"
    FOR EACH ROW EXECUTE FUNCTION keep_audit_entry();
  CREATE TRIGGER audit_entry_unchanged BEFORE UPDATE ON "audit_entry"
    FOR EACH ROW WHEN (NOT COALESCE(
      to_jsonb(OLD) - 'address' = to_jsonb(NEW) - 'address'
        AND OLD.at < now() - interval '29 days'
        AND strpos(OLD.address, '/') = 0
        AND (NEW.address IS NULL OR strpos(NEW.address, '/') > 0),
      false))
    EXECUTE FUNCTION keep_audit_entry();
  ALTER TABLE "audit_entry" ENABLE ALWAYS TRIGGER audit_entry_kept;
  ALTER TABLE "audit_entry" ENABLE ALWAYS TRIGGER audit_entry_unchanged;
END $$;
