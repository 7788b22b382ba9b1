-- What one project has much of is found without the rest of it. Spec: Files; Webhooks.
-- Up Migration

-- From the next analysis on, a project counts for a hundred files, however few most projects have. Where it counts for
-- one, any index of a project's files looks as good for a slug as that of slugs, and all files of a large project are
-- read for one.
alter table files alter column project_id set (n_distinct = -0.01);

create index webhook_deliveries_of_status on webhook_deliveries (project_id, status, created_at desc, delivery_id desc)
  where status <> 'delivered';
create index webhook_deliveries_of_event on webhook_deliveries (project_id, event, created_at desc, delivery_id desc)
  where event <> 'upload.ready';

-- Down Migration

drop index webhook_deliveries_of_event;
drop index webhook_deliveries_of_status;
alter table files alter column project_id reset (n_distinct);
