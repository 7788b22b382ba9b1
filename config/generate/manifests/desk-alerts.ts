/**
 * The alerts that can wait for office hours: work for a moderator, or for the person who handles payments.
 */
import type { Alert } from './alert.ts';

const events = (result: string, window: string) =>
  `sum by (namespace, provider) (increase(tintype_provider_events_total{result="${result}"}[${window}]))`;

export const deskAlerts: readonly Alert[] = [
  {
    name: 'TintypeChecksUnreviewed',
    expr: `max by (namespace) (tintype_checks_unreviewed_seconds) > ${3 * 86_400}`,
    for: '5m',
    severity: 'warning',
    summary: 'Flagged images wait for a moderator.',
    description:
      'An image in {{ $labels.namespace }} that the scanner flagged was published {{ $value | humanizeDuration }} ago, and nobody has reviewed it.',
  },
  {
    name: 'TintypeOrganizationOverQuota',
    expr: 'max by (namespace) (tintype_organizations_over_quota{plan="paid"}) - min by (namespace) (min_over_time(tintype_organizations_over_quota{plan="paid"}[1d])) > 0',
    for: '5m',
    severity: 'warning',
    summary: 'A paying organization is over quota: its images are not delivered.',
    description:
      'Organizations with a paid plan in {{ $labels.namespace }} that are over quota: {{ $value | humanize }} more than at some time in the last day.',
  },
  {
    name: 'TintypeProviderEventsRefused',
    // Anyone may send an unsigned event. Where no signed event arrives as well, the unsigned ones
    // are the provider's.
    expr: `${events('refused', '1h')} > 0 or ${events('unsigned', '1h')} > 2 unless ${events('taken', '1d')} > 0`,
    for: '0m',
    severity: 'warning',
    summary: 'Events of a payment provider are refused: payments give no credits.',
    description:
      '{{ $value | humanize }} events of provider {{ $labels.provider }} were refused in {{ $labels.namespace }} within an hour.',
  },
];
