/**
 * The picker's page: a frame without a script or style of its own, which only one origin may show and which reaches
 * nothing but the service. Spec: Library sessions and the picker.
 */
import { escapeHtml } from '../escape-html.ts';

export type PickerPlace = {
  readonly project: string;
  readonly library: string;
  /** The embedding origin, proven. */
  readonly origin: string;
  /** Where thumbnails come from. */
  readonly delivery_origin: string;
  /** Where uploads go, beside the page's own origin. */
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

/** None of them is needed, and an image of a user's must not get at them. */
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
