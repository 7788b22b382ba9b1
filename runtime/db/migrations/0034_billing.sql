-- Reports of payment providers: their customers, subscriptions and events, and what they took back. Spec:
-- Infrastructure; Billing.
-- Up Migration

create table billing_customers (
  provider text not null check (provider in ('a', 'b')),
  customer_id text not null check (char_length(customer_id) between 1 and 255),
  organization_id text not null references organizations,
  created_at timestamptz(3) not null default now(),
  primary key (provider, customer_id)
);
create index billing_customers_of_organization on billing_customers (organization_id);
comment on table billing_customers is 'Which organization a customer of a payment provider is; first told by the metadata of a signed event.';

create table subscriptions (
  provider text not null check (provider in ('a', 'b')),
  subscription_id text not null check (char_length(subscription_id) between 1 and 255),
  organization_id text not null references organizations,
  plan text not null check (plan ~ '^[a-z][a-z0-9_-]{0,62}$'),
  status text not null constraint subscriptions_status_known
    check (status in ('active', 'scheduled_cancel', 'canceled', 'expired')),
  changed_at timestamptz(3) not null,
  cancel_asked_at timestamptz(3),
  created_at timestamptz(3) not null default now(),
  updated_at timestamptz(3) not null default now(),
  primary key (provider, subscription_id)
);
create unique index subscriptions_one_running
  on subscriptions (organization_id) where status in ('active', 'scheduled_cancel');
create index subscriptions_of_organization on subscriptions (organization_id, changed_at desc);
comment on table subscriptions is 'Subscriptions as their payment provider last told; of an organization one runs at a time.';
comment on column subscriptions.changed_at is 'The provider''s time of the event that was applied last: an older one changes nothing.';
comment on column subscriptions.cancel_asked_at is 'While the provider is being asked to cancel: nobody else asks meanwhile.';

create table provider_events (
  provider text not null check (provider in ('a', 'b')),
  event_id text not null check (char_length(event_id) between 1 and 255),
  event_type text not null check (char_length(event_type) <= 255),
  event_at timestamptz(3) not null,
  received_at timestamptz(3) not null default now(),
  primary key (provider, event_id)
);
comment on table provider_events is 'Events that were taken, each in one transaction with its effect; one that was refused is not here, and comes again.';

create table credit_reversals (
  grant_id bigint not null references credit_grants,
  external_id text not null check (char_length(external_id) between 1 and 255),
  credits bigint not null check (credits > 0),
  created_at timestamptz(3) not null default now(),
  primary key (grant_id, external_id)
);
comment on table credit_reversals is 'Credits of a grant that were taken back because its payment was refunded, in one transaction with the balance.';
comment on column credit_reversals.external_id is 'The provider''s refund or event: what makes it happen once.';

-- Down Migration

drop table credit_reversals;
drop table provider_events;
drop table subscriptions;
drop table billing_customers;
