-- What is limited is not always hashed. As true of the version before, so nothing takes it back.
-- Up Migration

comment on column rate_windows.subject is 'Who is limited: a project, a network (an IPv4 address, or the first 64 bits of an IPv6 one) or a hashed e-mail address.';

-- Down Migration
