-- What one project has much of is found without the rest of it, and projects that wait without all that waits.
-- Spec: Files; Webhooks.
-- Up Migration

-- From the next analysis on, a project counts for a hundred files, however few most projects have. Where it counts for
-- one, any index of a project's files looks as good for a slug as that of slugs, and all files of a large project are
-- read for one.
alter table files alter column project_id set (n_distinct = -0.01);

create index webhook_deliveries_of_status on webhook_deliveries (project_id, status, created_at desc, delivery_id desc)
  where status <> 'delivered';
create index webhook_deliveries_of_event on webhook_deliveries (project_id, event, created_at desc, delivery_id desc)
  where event <> 'upload.ready';

-- Analyzed while nothing waits, an index of all that waits by its time looks as good for finding the next project as the
-- one of projects, and is read as a whole for each of them. So it takes a condition, which always holds, to use it.
drop index uploads_with_lease;
drop index uploads_to_process;
create index uploads_to_process on uploads (uploaded_at) where status = 'uploaded' and uploaded_at > '-infinity';
drop index scanner_checks_waiting;
create index scanner_checks_waiting on scanner_checks (created_at)
  where status in ('queued', 'scanning') and created_at > '-infinity';
drop index purges_due;
create index purges_due on purges (run_after) where sent_at is null and run_after > '-infinity';

-- Down Migration

drop index purges_due;
create index purges_due on purges (run_after) where sent_at is null;
drop index scanner_checks_waiting;
create index scanner_checks_waiting on scanner_checks (created_at) where status in ('queued', 'scanning');
drop index uploads_to_process;
create index uploads_to_process on uploads (uploaded_at) where status = 'uploaded';
create index uploads_with_lease on uploads (lease_until) where status = 'processing';
drop index webhook_deliveries_of_event;
drop index webhook_deliveries_of_status;
alter table files alter column project_id reset (n_distinct);
