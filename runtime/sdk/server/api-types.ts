/** Written by config/generate/sdk-types.ts from the OpenAPI document. Spec: Endpoints. */

/** What each operation takes and answers, by method and path. */
export type Operations = {
  readonly 'GET /v1/projects/{slug}': {
    readonly path: { readonly slug: string };
    readonly answer: Project;
  };
  readonly 'GET /v1/key': {
    readonly answer: CallingKey;
  };
  readonly 'POST /v1/projects/{slug}/signed-url': {
    readonly path: { readonly slug: string };
    readonly body: {
      readonly file_slug: string;
      readonly transform_chain?: string | null;
      readonly kind?: 'derived' | 'originals' | 'raw';
      readonly expires_in_seconds?: number | null;
    };
    readonly answer: SignedUrl;
  };
  readonly 'GET /v1/projects/{slug}/watermark-presets': {
    readonly path: { readonly slug: string };
    readonly answer: { readonly items: readonly WatermarkPreset[] };
  };
  readonly 'PUT /v1/projects/{slug}/watermark-presets': {
    readonly path: { readonly slug: string };
    readonly body: {
      readonly name: string;
      readonly file_slug: string;
      readonly x_offset?: number;
      readonly y_offset?: number;
      readonly opacity?: number;
    };
    readonly answer: WatermarkPreset;
  };
  readonly 'GET /v1/projects/{slug}/watermark-presets/{id}': {
    readonly path: { readonly slug: string; readonly id: string };
    readonly answer: WatermarkPreset;
  };
  readonly 'PUT /v1/projects/{slug}/watermark-presets/{id}': {
    readonly path: { readonly slug: string; readonly id: string };
    readonly body: {
      readonly name: string;
      readonly file_slug: string;
      readonly x_offset?: number;
      readonly y_offset?: number;
      readonly opacity?: number;
    };
    readonly answer: WatermarkPreset;
  };
  readonly 'DELETE /v1/projects/{slug}/watermark-presets/{id}': {
    readonly path: { readonly slug: string; readonly id: string };
    readonly answer: undefined;
  };
  readonly 'GET /v1/projects/{slug}/recipes': {
    readonly path: { readonly slug: string };
    readonly answer: { readonly items: readonly Recipe[]; readonly next_cursor: string | null };
  };
  readonly 'PUT /v1/projects/{slug}/recipes': {
    readonly path: { readonly slug: string };
    readonly body: {
      readonly name: string;
      readonly transform_chain: string;
      readonly schema_version?: 1;
    };
    readonly answer: Recipe;
  };
  readonly 'GET /v1/projects/{slug}/recipes/{id}': {
    readonly path: { readonly slug: string; readonly id: string };
    readonly answer: Recipe;
  };
  readonly 'PUT /v1/projects/{slug}/recipes/{id}': {
    readonly path: { readonly slug: string; readonly id: string };
    readonly body: {
      readonly name: string;
      readonly transform_chain: string;
      readonly schema_version?: 1;
    };
    readonly answer: Recipe;
  };
  readonly 'DELETE /v1/projects/{slug}/recipes/{id}': {
    readonly path: { readonly slug: string; readonly id: string };
    readonly answer: undefined;
  };
  readonly 'GET /v1/projects/{slug}/uploads': {
    readonly path: { readonly slug: string };
    readonly query?: {
      readonly status?: 'created' | 'uploaded' | 'processing' | 'ready' | 'failed' | 'expired';
      readonly limit?: number;
      readonly cursor?: string;
    };
    readonly answer: { readonly items: readonly Upload[]; readonly next_cursor: string | null };
  };
  readonly 'POST /v1/projects/{slug}/uploads': {
    readonly path: { readonly slug: string };
    readonly body: {
      readonly content_type: string;
      readonly size_bytes: number;
      readonly file_slug?: string;
      readonly sha256?: string;
      readonly mode?: 'direct' | 'proxy';
      readonly parts?: number;
      readonly library?: string;
      readonly folder?: string;
    };
    readonly answer: Upload;
  };
  readonly 'GET /v1/projects/{slug}/uploads/{id}': {
    readonly path: { readonly slug: string; readonly id: string };
    readonly answer: Upload;
  };
  readonly 'POST /v1/projects/{slug}/uploads/{id}/complete': {
    readonly path: { readonly slug: string; readonly id: string };
    readonly body?: {
      readonly parts?: readonly { readonly part_number: number; readonly etag: string }[];
    };
    readonly answer: Upload;
  };
  readonly 'POST /v1/projects/{slug}/uploads/{id}/parts': {
    readonly path: { readonly slug: string; readonly id: string };
    readonly answer: UploadParts;
  };
  readonly 'POST /v1/projects/{slug}/uploads/{id}/abort': {
    readonly path: { readonly slug: string; readonly id: string };
    readonly answer: Upload;
  };
  readonly 'GET /v1/projects/{slug}/files': {
    readonly path: { readonly slug: string };
    readonly query?: {
      readonly status?: 'ready' | 'blocked' | 'deleted';
      readonly q?: string;
      readonly library?: string;
      readonly folder?: string;
      readonly recursive?: 'true' | 'false';
      readonly search?: string;
      readonly has_location?: 'true' | 'false';
      readonly bbox?: string;
      readonly sort?: 'uploaded' | 'name' | 'taken';
      readonly uploader?: string;
      readonly include?: string;
      readonly limit?: number;
      readonly cursor?: string;
    };
    readonly answer: {
      readonly items: readonly File[];
      readonly next_cursor: string | null;
      readonly filters?: { readonly uploader: true };
    };
  };
  readonly 'GET /v1/projects/{slug}/files/{fileSlug}': {
    readonly path: { readonly slug: string; readonly fileSlug: string };
    readonly query?: { readonly include?: string };
    readonly answer: File;
  };
  readonly 'PATCH /v1/projects/{slug}/files/{fileSlug}': {
    readonly path: { readonly slug: string; readonly fileSlug: string };
    readonly body: {
      readonly title?: string | null;
      readonly alt_text?: string | null;
      readonly folder?: string;
      readonly library?: string;
    };
    readonly answer: File;
  };
  readonly 'DELETE /v1/projects/{slug}/files/{fileSlug}': {
    readonly path: { readonly slug: string; readonly fileSlug: string };
    readonly answer: undefined;
  };
  readonly 'POST /v1/projects/{slug}/files/move': {
    readonly path: { readonly slug: string };
    readonly body: {
      readonly file_slugs: readonly string[];
      readonly folder: string;
      readonly library?: string;
    };
    readonly answer: MovedFiles;
  };
  readonly 'GET /v1/projects/{slug}/libraries': {
    readonly path: { readonly slug: string };
    readonly query?: { readonly limit?: number; readonly cursor?: string };
    readonly answer: { readonly items: readonly Library[]; readonly next_cursor: string | null };
  };
  readonly 'POST /v1/projects/{slug}/libraries': {
    readonly path: { readonly slug: string };
    readonly body: {
      readonly slug: string;
      readonly name: string;
      readonly allowed_origins?: readonly string[];
      readonly delivery_access?: unknown;
      readonly map_enabled?: unknown;
    };
    readonly answer: Library;
  };
  readonly 'GET /v1/projects/{slug}/libraries/{lib}': {
    readonly path: { readonly slug: string; readonly lib: string };
    readonly answer: Library;
  };
  readonly 'PATCH /v1/projects/{slug}/libraries/{lib}': {
    readonly path: { readonly slug: string; readonly lib: string };
    readonly body: {
      readonly name?: string;
      readonly allowed_origins?: readonly string[];
      readonly delivery_access?: unknown;
      readonly map_enabled?: unknown;
    };
    readonly answer: Library;
  };
  readonly 'DELETE /v1/projects/{slug}/libraries/{lib}': {
    readonly path: { readonly slug: string; readonly lib: string };
    readonly answer: undefined;
  };
  readonly 'POST /v1/projects/{slug}/library-sessions': {
    readonly path: { readonly slug: string };
    readonly body: {
      readonly library: string;
      readonly folder?: string;
      readonly permissions: readonly ('browse' | 'browse_own' | 'upload')[];
      readonly origin: string;
      readonly subject: string;
      readonly expires_in?: number;
      readonly max_file_bytes?: number;
      readonly max_uploads?: number;
      readonly refresh_of?: string;
    };
    readonly answer: LibrarySession;
  };
  readonly 'POST /v1/projects/{slug}/library-sessions/revoke': {
    readonly path: { readonly slug: string };
    readonly body?: { readonly subject?: string };
    readonly answer: RevokedLibrarySessions;
  };
  readonly 'GET /v1/projects/{slug}/usage': {
    readonly path: { readonly slug: string };
    readonly query?: { readonly from?: string; readonly to?: string };
    readonly answer: Usage;
  };
};

export type CallingKey = {
  readonly id: string;
  readonly name: string;
  readonly scopes: readonly (
    | 'files:read'
    | 'files:write'
    | 'urls:sign'
    | 'recipes:read'
    | 'recipes:write'
    | 'library:sessions'
  )[];
  readonly prefix: string;
  readonly last_four: string;
  readonly status: 'active' | 'revoked';
  readonly last_used_at: string | null;
  readonly project_slug: string;
  readonly project_id: string;
  readonly organization_id: string;
};

export type File = {
  readonly file_slug: string;
  readonly file_id: string;
  readonly status: 'ready' | 'blocked' | 'deleted';
  readonly revision: number;
  readonly width: number;
  readonly height: number;
  readonly url: string;
  readonly sha256: string;
  readonly title: string | null;
  readonly alt_text: string | null;
  readonly folder: string;
  readonly library: string;
  readonly original_filename: string | null;
  readonly location?: { readonly latitude: number; readonly longitude: number } | null;
  readonly taken_at?: string | null;
  readonly content_type: string;
  readonly size_bytes: number;
  readonly dominant_color: string;
  readonly thumb_hash: string | null;
  readonly created_at: string;
  readonly updated_at: string;
};

export type Library = {
  readonly slug: string;
  readonly name: string;
  readonly allowed_origins: readonly string[];
  readonly library_id: string | null;
  readonly created_at: string | null;
  readonly updated_at: string | null;
};

export type LibrarySession = {
  readonly session_id: string;
  readonly token: string;
  readonly embed_url: string;
  readonly expires_at: string;
  readonly library: string;
  readonly folder: string;
  readonly permissions: readonly ('browse' | 'browse_own' | 'upload')[];
  readonly origin: string;
  readonly max_file_bytes: number;
  readonly max_uploads: number;
};

export type MovedFiles = {
  readonly moved: readonly {
    readonly file_slug: string;
    readonly library: string;
    readonly folder: string;
  }[];
  readonly not_found: readonly string[];
};

export type Project = {
  readonly project_slug: string;
  readonly project_id: string;
  readonly organization_id: string;
  readonly name: string;
  readonly delivery_access: 'public' | 'protected';
  readonly default_delivery_host: string;
  readonly custom_domains: readonly string[];
  readonly cors_allowed_origins: readonly string[];
  readonly resolution_presets: { readonly [name: string]: string };
  readonly allowed_transform_chains: readonly string[];
  readonly default_watermark_preset_id: string | null;
  readonly raw_download_enabled: boolean;
  readonly callback_url: string | null;
  readonly callback_secret_set: boolean;
  readonly callback_secret?: string;
  readonly status: 'active' | 'suspended';
  readonly suspended_by: 'owner' | 'staff' | null;
  readonly storage_hard_limit_bytes: number | null;
  readonly storage_limit_source: 'plan' | 'staff';
  readonly file_count: number;
  readonly storage_bytes: number;
  readonly active_signing_kid: string | null;
  readonly pricing_multiplier: number;
  readonly created_at: string;
  readonly updated_at: string;
};

export type Recipe = {
  readonly id: string;
  readonly name: string;
  readonly transform_chain: string;
  readonly schema_version: 1;
  readonly valid: boolean;
  readonly created_at: string;
  readonly updated_at: string;
};

export type RevokedLibrarySessions = {
  readonly revoked_at: string;
  readonly mint_again_at: string;
};

export type SignedUrl = { readonly url: string; readonly kid: string; readonly expires_at: string };

export type Upload = {
  readonly upload_id: string;
  readonly project_slug: string;
  readonly file_slug: string;
  readonly status: 'created' | 'uploaded' | 'processing' | 'ready' | 'failed' | 'expired';
  readonly mode: 'direct' | 'proxy';
  readonly content_type: string;
  readonly size_bytes: number;
  readonly error_code:
    | 'unsupported_media_type'
    | 'animated_not_supported'
    | 'image_too_large'
    | 'processing_timeout'
    | 'decode_failed'
    | 'ingest_size_mismatch'
    | 'sha256_mismatch'
    | 'file_too_large'
    | 'ingest_object_missing'
    | 'processing_abandoned'
    | 'session_expired'
    | null;
  readonly expires_at: string;
  readonly ready_at: string | null;
  readonly direct?: {
    readonly put_url: string;
    readonly headers: { readonly 'content-type': string; readonly 'content-length': string };
    readonly expires_at: string;
  };
  readonly multipart?: {
    readonly upload_id: string;
    readonly part_size: number;
    readonly parts: readonly { readonly part_number: number; readonly url: string }[];
    readonly complete_url: string;
    readonly urls_expire_at: string;
  };
  readonly proxy?: { readonly put_url: string };
  readonly sha256: string | null;
  readonly library: string;
  readonly folder: string;
  readonly file_id: string | null;
  readonly revision: number | null;
  readonly created_at: string;
  readonly updated_at: string;
};

export type UploadParts = {
  readonly parts: readonly { readonly part_number: number; readonly url: string }[];
  readonly urls_expire_at: string;
};

export type Usage = {
  readonly project_slug: string;
  readonly from: string;
  readonly to: string;
  readonly range_capped: boolean;
  readonly storage: { readonly file_count: number; readonly storage_bytes: number };
  readonly hourly: readonly {
    readonly window_start: string;
    readonly requests: number;
    readonly bytes: number;
    readonly transforms: number;
    readonly credits: number;
    readonly computed_at: string;
  }[];
  readonly daily: readonly {
    readonly day: string;
    readonly requests: number;
    readonly bytes: number;
    readonly transforms: number;
    readonly credits: number;
    readonly charged_credits: number;
    readonly hours_closed: number;
    readonly finalized_at: string | null;
  }[];
  readonly credit_balance: number;
  readonly reconciled_through: string;
};

export type WatermarkPreset = {
  readonly id: string;
  readonly name: string;
  readonly file_slug: string;
  readonly x_offset: number;
  readonly y_offset: number;
  readonly opacity: number;
  readonly created_at: string;
  readonly updated_at: string;
};
