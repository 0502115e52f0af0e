-- A canary that did well in its window is released by itself: which one it was.
ALTER TABLE releases ADD COLUMN auto_promoted_from TEXT;
