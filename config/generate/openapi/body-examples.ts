/** An example of each request body: a starting point for trying the operation. */
import { exampleIds } from './example-ids.ts';
import { staffBodyExamples } from './staff-examples.ts';

const organization_id = exampleIds.org;

export const bodyExamples: Readonly<Record<string, unknown>> = {
  receiveStorageEvents: {
    events: [{ event: 'ObjectCreated:Put', key: `${exampleIds.prj}/${exampleIds.upl}` }],
  },
  receiveProviderBEvent: {
    id: 'evt_5WHHcZPv7VS0YUsberIuOz',
    eventType: 'subscription.paid',
    created_at: 1_793_611_800_000,
    object: {
      id: 'sub_2O4LbygGkNJJ6VrStIZz21',
      mode: 'live',
      customer: 'cust_3biFPNt4Cz5YRDSdIqs7kc',
      product: { id: 'prod_1Abc', price: 1900, currency: 'EUR' },
      last_transaction_id: 'tran_5yMaWzAl3jxuGJMCOrYWwk',
      metadata: { organization_id },
    },
  },
  receiveProviderAEvent: {
    id: 'evt_1Rabcd',
    type: 'invoice.paid',
    created: 1_793_611_800,
    data: {
      object: {
        id: 'in_1Rabcd',
        customer: 'cus_Rabcd',
        subscription: 'sub_1Rabcd',
        subscription_details: { metadata: { organization_id } },
        lines: { data: [{ price: { id: 'price_1Abc', unit_amount: 1900, currency: 'eur' } }] },
      },
    },
  },
  createOrganization: { name: 'Example Shop' },
  createProject: {
    project_slug: 'shop',
    name: 'Shop',
    resolution_presets: { thumb: 'resize/200x200/smart' },
  },
  updateProject: { delivery_access: 'protected' },
  createApiKey: { name: 'shop server', scopes: ['files:read', 'files:write', 'urls:sign'] },
  signUrl: {
    file_slug: 'red-shoe.jpg',
    transform_chain: 'resize/640x480',
    expires_in_seconds: 300,
  },
  createWatermarkPreset: {
    name: 'logo',
    file_slug: 'logo.png',
    x_offset: -24,
    y_offset: -24,
    opacity: 80,
  },
  putWatermarkPreset: { name: 'logo', file_slug: 'logo.png', opacity: 50 },
  createRecipe: { name: 'hero', transform_chain: 'resize/1600x/format/webp' },
  putRecipe: { name: 'hero', transform_chain: 'resize/1600x/format/avif' },
  createUpload: { content_type: 'image/jpeg', size_bytes: 2_481_920, file_slug: 'red-shoe.jpg' },
  completeUpload: { parts: [{ part_number: 1, etag: '"9b2cf535f27731c974343645a3985328"' }] },
  updateFile: { title: 'Red shoe', alt_text: 'A red running shoe, seen from the left' },
  moveFiles: {
    file_slugs: ['red-shoe.jpg', 'blue-shoe.jpg'],
    folder: '2026/spring',
    library: 'press',
  },
  createLibrary: {
    slug: 'press',
    name: 'Press pictures',
    allowed_origins: ['https://cms.example.com'],
  },
  mintLibrarySession: {
    library: 'press',
    folder: '2026',
    permissions: ['browse', 'upload'],
    origin: 'https://cms.example.com',
    subject: 'editor-42',
  },
  revokeLibrarySessions: { subject: 'editor-42' },
  createLibraryUpload: {
    content_type: 'image/jpeg',
    size_bytes: 2_481_920,
    original_filename: 'red-shoe.jpg',
  },
  updateLibrary: { name: 'Press' },
  putModerationNote: { note: 'The model release is on file.' },
  ...staffBodyExamples,
};
