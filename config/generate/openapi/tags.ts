/** The headings of the reference, in which the operations stand. */
export const tags = [
  { name: 'Identity and organizations', description: 'Who is calling, and who pays.' },
  { name: 'Projects', description: 'A library of images with its delivery host and settings.' },
  { name: 'API keys', description: 'What server code calls with. Dashboard sessions only.' },
  { name: 'Signing keys and signed URLs', description: 'Delivery URLs of protected projects.' },
  { name: 'Watermark presets', description: 'Images that are drawn onto derived images.' },
  { name: 'Recipes', description: 'Named transform chains.' },
  { name: 'Uploads', description: 'From declared bytes to a published file.' },
  { name: 'Files', description: 'What is published.' },
  { name: 'Usage', description: 'What was delivered, and what it costs.' },
  { name: 'Infrastructure', description: 'For probes and for the object storage.' },
] as const;

export type Tag = (typeof tags)[number]['name'];
