-- What a folder declared with a namespace in its metadata belongs to the folder, like everything else in it. Spec:
-- Project.
-- Up Migration

-- Rows whose owner's namespace is no organization belong to a folder's resource. If the folder
-- already has another of the same kind and name, they stay unchanged.
do $$
declare
  owned record;
begin
  perform set_config('tintype.declares', 'on', true);
  for owned in
    select * from (values
      ('Project', 'projects', 'project_id', 'true'),
      ('SigningKey', 'signing_keys', 'kid', $q$t.status = 'active'$q$),
      ('WatermarkPreset', 'watermark_presets', 'watermark_preset_id', 'true'),
      ('Recipe', 'recipes', 'recipe_id', 'true')
    ) as t (kind, place, id, rows)
  loop
    execute format(
      $update$
        update %2$I as r set owner_uid = moved.uid, owner_namespace = moved.namespace
        from (
          select distinct on (uid) * from (
            select t.%3$I as id, p.organization_id as namespace, 'folder-' || left(encode(sha256(
              convert_to(concat_ws('/', p.organization_id, %1$L, t.owner_name), 'UTF8')), 'hex'), 32) as uid
            from %2$I as t join projects as p using (project_id)
            where starts_with(t.owner_uid, 'folder-') and %4$s
              and not exists (select from organizations as o where o.organization_id = t.owner_namespace)
          ) as stray order by uid, id desc
        ) as moved
        where r.%3$I = moved.id and not exists (select from %2$I as t where t.owner_uid = moved.uid)
      $update$,
      owned.kind, owned.place, owned.id, owned.rows
    );
  end loop;
end
$$;

-- Down Migration

-- They belonged to the folder before this migration too.
