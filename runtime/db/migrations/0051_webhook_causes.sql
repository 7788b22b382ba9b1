-- What caused a webhook, so that its attempts are found with their cause. Spec: Events; Errors, Envelope
-- (x-request-id).
-- Up Migration

alter table webhook_deliveries
  add column request_id text check (char_length(request_id) <= 128),
  add column traceparent text check (char_length(traceparent) = 55);
comment on column webhook_deliveries.request_id is 'Of the request, job or upload that caused the event: its attempts go on under it.';
comment on column webhook_deliveries.traceparent is 'The trace in which the event was caused, where one was kept: W3C Trace Context.';

-- Down Migration

alter table webhook_deliveries drop column request_id, drop column traceparent;
