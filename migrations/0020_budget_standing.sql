-- What becomes of a budget by itself. Nodes of the release before neither read nor write these columns: for them a budget
-- that stands still is one whose period is used up, and nobody is told of what they count until a newer node looks.

-- Since when a budget under `pause` stands still, until a person lets it go on. Null for nearly every budget.
alter table budget add column paused_at timestamptz;
-- The open alerts of a budget by kind, with their ids. Null for nearly every budget.
alter table budget add column alerts jsonb;
create index budget_of_scope on budget (org_id, scope, scope_id);
