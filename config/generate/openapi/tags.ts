/** The headings that group the operations of the reference. */
export const tags = [
  { name: 'Identity and organizations', description: 'Who is calling, and who pays.' },
  { name: 'Projects', description: 'A library of images with its delivery host and settings.' },
  { name: 'Webhooks', description: 'Deliveries to the callback URL, and the responses.' },
  { name: 'API keys', description: 'Credentials for your servers. Dashboard sessions only.' },
  { name: 'Signing keys and signed URLs', description: 'Delivery URLs of protected projects.' },
  { name: 'Watermark presets', description: 'Images that are drawn onto derived images.' },
  { name: 'Recipes', description: 'Named transform chains.' },
  { name: 'Uploads', description: 'From a declared size to a published file.' },
  { name: 'Files', description: 'Published images.' },
  { name: 'Libraries', description: 'Named groups of files, with folders inside.' },
  {
    name: 'Library sessions and the picker',
    description: 'Access for a person in a browser, and an embeddable page for it.',
  },
  { name: 'Usage', description: 'Deliveries, and their cost.' },
  { name: 'Public', description: 'For everyone.' },
  {
    name: 'Staff',
    description: 'For the people who run the service, if the staff API is enabled.',
  },
  { name: 'Billing', description: 'The subscription. Dashboard sessions only.' },
  { name: 'Infrastructure', description: 'For probes, the object storage and payment providers.' },
] as const;

export type Tag = (typeof tags)[number]['name'];
