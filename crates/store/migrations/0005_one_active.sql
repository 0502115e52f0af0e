-- One release of a skill is in use, the one that was released last. While that is a canary, the stable release before it
-- has the other part of the replays.
ALTER TABLE releases ADD COLUMN stable_before TEXT;
UPDATE releases SET stable_before = replaces WHERE stage = 'stable';
UPDATE releases SET stable_before = (SELECT s.id FROM releases s WHERE s.owner = releases.owner
    AND s.skill_key = releases.skill_key AND s.stage = 'stable' AND s.is_active = 1 AND s.version < releases.version)
    WHERE stage = 'canary' AND is_active = 1;
UPDATE releases SET replaces = stable_before WHERE stage = 'canary' AND replaces IS NULL;
UPDATE releases SET is_active = 0 WHERE is_active = 1 AND EXISTS (SELECT 1 FROM releases n
    WHERE n.owner = releases.owner AND n.skill_key = releases.skill_key AND n.is_active = 1
    AND n.version > releases.version);
CREATE UNIQUE INDEX releases_in_use ON releases (owner, skill_key) WHERE is_active = 1;
