-- The purpose of a project's version: no request compares it. Spec: Project.
-- Up Migration

comment on column projects.version is 'Raised by each change of the project, also by one of rows beside it, such as its price.';

-- Down Migration

comment on column projects.version is 'Raised by each change of settings: what an If-Match compares.';
