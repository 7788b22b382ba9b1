-- Finds what one project has much of without reading the rest. Spec: Files; Webhooks.
-- Up Migration

-- After the next analysis, the planner expects a hundred files per project, however few most
-- projects have. If it expects one, any index of a project's files seems as good for a slug as the
-- index of slugs, and a lookup reads all files of a large project.
alter table files alter column project_id set (n_distinct = -0.01);

create index webhook_deliveries_of_status on webhook_deliveries (project_id, status, created_at desc, delivery_id desc)
  where status <> 'delivered';
create index webhook_deliveries_of_event on webhook_deliveries (project_id, event, created_at desc, delivery_id desc)
  where event <> 'upload.ready';

-- Down Migration

drop index webhook_deliveries_of_event;
drop index webhook_deliveries_of_status;
alter table files alter column project_id reset (n_distinct);
