-- What earned autonomy is bound to: tool, runbook, its version, and the arguments that say what is done. Null: nothing earns it.
ALTER TABLE action ADD COLUMN autonomy_key text;
