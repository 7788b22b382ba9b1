-- A refund of provider A names the payment of an invoice, not the invoice: an event of its own reports which one it
-- paid. Spec: Infrastructure.
-- Up Migration

create table billing_payments (
  provider text not null check (provider in ('a', 'b')),
  paid_by text not null check (char_length(paid_by) between 1 and 255),
  payment_id text not null check (char_length(payment_id) between 1 and 255),
  created_at timestamptz(3) not null default now(),
  primary key (provider, paid_by)
);
comment on table billing_payments is 'What a payment provider charged for which payment, where its refunds name only the former.';
comment on column billing_payments.paid_by is 'The provider''s payment intent, or its charge where there is none.';
comment on column billing_payments.payment_id is 'The invoice: what the credits hang on, as credit_grants.external_id.';

-- Down Migration

drop table billing_payments;
