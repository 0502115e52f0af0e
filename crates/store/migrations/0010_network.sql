-- The hosts that a sandbox's owner has opened while it runs (a JSON list); null: those of its profile.
ALTER TABLE sandboxes ADD COLUMN network TEXT;
