/**
 * The picker's page: a frame without inline script or style, which only one origin may embed and which can connect to
 * nothing but the service. Spec: Library sessions and the picker.
 */
import { escapeHtml } from '../escape-html.ts';

export type PickerPlace = {
  readonly project: string;
  readonly library: string;
  /** The embedding origin, verified by the signature of the URL. */
  readonly origin: string;
  /** The origin of thumbnails. */
  readonly delivery_origin: string;
  /** The origin of uploads, in addition to the page's own. */
  readonly upload_origin: string;
};

export function pickerHeaders(place: PickerPlace): Readonly<Record<string, string>> {
  return {
    'content-type': 'text/html; charset=utf-8',
    'content-security-policy': policyOf(place),
    'permissions-policy': PERMISSIONS,
  };
}

export function printPickerPage({ project, library, origin }: PickerPlace): string {
  const facts = Object.entries({ project, library, origin })
    .map(([name, value]) => `data-${name}="${escapeHtml(value)}"`)
    .join(' ');
  return `<!doctype html>
<html lang="en" ${facts}>
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Images</title>
<link rel="stylesheet" href="../_assets/picker.css">
<script type="module" src="../_assets/picker.js"></script>
</head>
<body></body>
</html>
`;
}

/** The picker needs none of these features, and a user's image must not reach them. */
const PERMISSIONS = ['camera', 'microphone', 'geolocation', 'payment', 'usb', 'display-capture']
  .map((feature) => `${feature}=()`)
  .join(', ');

function policyOf({ origin, delivery_origin, upload_origin }: PickerPlace): string {
  return [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    `img-src ${delivery_origin}`,
    `connect-src 'self' ${upload_origin}`,
    `frame-ancestors ${origin}`,
    "base-uri 'none'",
    "form-action 'none'",
  ].join('; ');
}
