-- The names of the pictures that an execution drew, with commas between.
ALTER TABLE executions ADD COLUMN artifacts TEXT;
