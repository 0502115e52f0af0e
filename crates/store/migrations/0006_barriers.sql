-- The limit or the wall that ended or refused an execution, as a word; null: none.
ALTER TABLE executions ADD COLUMN barrier TEXT;
