/** The headings of the reference, in which the operations stand. */
export const tags = [
  { name: 'Identity and organizations', description: 'Who is calling, and who pays.' },
  { name: 'Projects', description: 'A library of images with its delivery host and settings.' },
  { name: 'Webhooks', description: 'What was sent to the callback URL, and what came back.' },
  { name: 'API keys', description: 'What server code calls with. Dashboard sessions only.' },
  { name: 'Signing keys and signed URLs', description: 'Delivery URLs of protected projects.' },
  { name: 'Watermark presets', description: 'Images that are drawn onto derived images.' },
  { name: 'Recipes', description: 'Named transform chains.' },
  { name: 'Uploads', description: 'From declared bytes to a published file.' },
  { name: 'Files', description: 'What is published.' },
  { name: 'Libraries', description: 'Named groups of files, with folders inside.' },
  {
    name: 'Library sessions and the picker',
    description: 'What a person in a browser may see and send, and a page for it.',
  },
  { name: 'Usage', description: 'What was delivered, and what it costs.' },
  { name: 'Public', description: 'For anybody.' },
  { name: 'Staff', description: 'For those who run the service, where their API is enabled.' },
  { name: 'Billing', description: 'The subscription that pays. Dashboard sessions only.' },
  { name: 'Infrastructure', description: 'For probes, the object storage and payment providers.' },
] as const;

export type Tag = (typeof tags)[number]['name'];
