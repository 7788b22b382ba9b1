-- The metrics read every few seconds how many organizations are over quota. Spec: Organization quota.
-- Up Migration

create index organizations_over_quota on organizations (plan) where quota_exceeded_at is not null;

-- Down Migration

drop index organizations_over_quota;
