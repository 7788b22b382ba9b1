/**
 * What a delivery needs to know, each read in one statement: the project behind a host, with its keys and watermark
 * presets, and the current revision of a file. Spec: Delivery host.
 */
import type { Mezzanine } from '../core/delivery/render-source.ts';
import type { StoredType } from '../core/image/formats.ts';
import type { Queryable } from './client.ts';
import type { FileRow } from './files.ts';
import { prepared } from './prepared-statements.ts';

export type DeliveryProjectRow = {
  project_id: string;
  status: 'active' | 'suspended';
  is_over_quota: boolean;
  delivery_access: 'public' | 'protected';
  raw_download_enabled: boolean;
  generation: number;
  resolution_presets: Record<string, string>;
  allowed_transform_chains: string[];
  default_watermark_preset_id: string | null;
  keys: DeliveryKeyRow[];
  watermarks: DeliveryWatermarkRow[];
  /** By the database's clock, which decides when a key is retired. */
  read_at: Date;
};

/** `secret_sealed` in hex; `retire_after` as ISO 8601, null while the key is active. */
export type DeliveryKeyRow = { kid: string; secret_sealed: string; retire_after: string | null };

/**
 * `object_key` holds pixels, as described by `content_type` and `is_lossless`: for an SVG the
 * raster grid.
 */
export type DeliveryWatermarkRow = {
  watermark_preset_id: string;
  object_key: string;
  content_type: string;
  is_lossless: boolean;
  width: number;
  height: number;
  x_offset: number;
  y_offset: number;
  opacity: number;
  revision_tag: string;
};

export async function findDeliveryProject(
  db: Queryable,
  host: { project_slug: string } | { domain: string },
): Promise<DeliveryProjectRow | undefined> {
  const isSlug = 'project_slug' in host;
  const rows = await db.query<DeliveryProjectRow>(isSlug ? projectBySlug : projectByDomain, [
    isSlug ? host.project_slug : host.domain,
  ]);
  return rows[0];
}

const projectColumns = `
  select p.project_id, p.status, p.delivery_access, p.raw_download_enabled, p.generation,
    p.resolution_presets, p.allowed_transform_chains, p.default_watermark_preset_id,
    o.quota_exceeded_at is not null as is_over_quota, clock_timestamp() as read_at,
    coalesce((
      select jsonb_agg(jsonb_build_object(
        'kid', k.kid, 'secret_sealed', encode(k.secret_sealed, 'hex'), 'retire_after', k.retire_after))
      from signing_keys k
      where k.project_id = p.project_id and (k.retire_after is null or k.retire_after > now())
    ), '[]') as keys,
    coalesce((
      select jsonb_agg(jsonb_build_object(
        'watermark_preset_id', w.watermark_preset_id,
        'object_key', case r.content_type when 'image/svg+xml' then grid.object_key else r.object_key end,
        'content_type', coalesce(grid.content_type, r.content_type), 'is_lossless', r.is_lossless,
        'width', r.width, 'height', r.height, 'x_offset', w.x_offset, 'y_offset', w.y_offset,
        'opacity', w.opacity, 'revision_tag', r.file_id || '.' || r.revision))
      from watermark_presets w
      join files f on f.file_id = w.file_id and f.status = 'ready'
      join file_revisions r on r.file_id = f.file_id and r.revision = f.revision
      left join lateral (
        select m ->> 'object_key' as object_key, m ->> 'content_type' as content_type
        from jsonb_array_elements(r.mezzanines) m where r.content_type = 'image/svg+xml'
        order by (m ->> 'long_edge')::int desc limit 1
      ) grid on true
      where w.project_id = p.project_id
    ), '[]') as watermarks
  from projects p
  join organizations o on o.organization_id = p.organization_id`;

const projectBySlug = `${projectColumns} where p.project_slug = $1`;
const projectByDomain = `${projectColumns} join project_domains d on d.project_id = p.project_id where d.domain = $1`;

export type DeliveryFileRow = Pick<
  FileRow,
  | 'file_id'
  | 'file_slug'
  | 'revision'
  | 'original_filename'
  | 'object_key'
  | 'size_bytes'
  | 'width'
  | 'height'
  | 'has_alpha'
  | 'is_lossless'
  | 'focal_x'
  | 'focal_y'
  | 'raw_object_key'
> & {
  status: 'ready' | 'blocked';
  content_type: StoredType;
  mezzanines: Mezzanine[];
  /** Object keys of the saved metadata blocks. */
  metadata: Partial<Record<'exif' | 'icc' | 'xmp', string>>;
};

const FILE_BY_SLUG = prepared(
  `select f.file_id, f.file_slug, f.status, f.revision, f.original_filename,
     r.object_key, r.content_type, r.size_bytes, r.width, r.height, r.has_alpha, r.is_lossless,
     r.focal_x, r.focal_y, r.mezzanines, r.raw_object_key, r.metadata
   from files f
   join file_revisions r on r.file_id = f.file_id and r.revision = f.revision
   where f.project_id = $1 and f.file_slug = $2 and f.status <> 'deleted'`,
);

export async function findDeliveryFile(
  db: Queryable,
  of: { project_id: string; file_slug: string },
): Promise<DeliveryFileRow | undefined> {
  return (await db.query<DeliveryFileRow>(FILE_BY_SLUG, [of.project_id, of.file_slug]))[0];
}
