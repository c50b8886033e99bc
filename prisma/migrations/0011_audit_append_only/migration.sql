-- The audit log only grows: no entry changes, and none is deleted before its time (AUDIT_RETENTION_S in lib/contract/portal.ts;
-- a test compares both). "access." entries say who signed in and who read what; all others are changes.

CREATE FUNCTION keep_audit_entry() RETURNS trigger LANGUAGE plpgsql SET search_path = pg_catalog AS $$
BEGIN
  IF TG_OP = 'DELETE' THEN
    IF OLD.at < now() - make_interval(secs => CASE WHEN OLD.action LIKE 'access.%' THEN 7776000 ELSE 63072000 END) THEN
      RETURN OLD;
    END IF;
  END IF;
  RAISE EXCEPTION 'the audit log is append-only' USING ERRCODE = 'insufficient_privilege';
END $$;

CREATE TRIGGER audit_entry_kept BEFORE UPDATE OR DELETE ON "audit_entry"
  FOR EACH ROW EXECUTE FUNCTION keep_audit_entry();
CREATE TRIGGER audit_entry_not_truncated BEFORE TRUNCATE ON "audit_entry"
  FOR EACH STATEMENT EXECUTE FUNCTION keep_audit_entry();

-- Also in a session that switches triggers off with session_replication_role.
ALTER TABLE "audit_entry" ENABLE ALWAYS TRIGGER audit_entry_kept;
ALTER TABLE "audit_entry" ENABLE ALWAYS TRIGGER audit_entry_not_truncated;
