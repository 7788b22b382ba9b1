/** The panels of what waits for a person: a moderator, or whoever sees to payments. */
import { gauge, type PanelRow, rate } from './panel.ts';

export const deskRows: readonly PanelRow[] = [
  {
    title: 'What waits for people',
    panels: [
      {
        title: 'Flagged pictures that wait for a moderator',
        description:
          'Pictures that the scanner flagged and nobody has reviewed; most are served meanwhile.',
        unit: 'short',
        targets: [[gauge('tintype_checks_unreviewed', 'namespace'), '{{namespace}}']],
      },
      {
        title: 'Oldest flagged picture that waits for a moderator',
        description: 'How long ago the oldest of them was published.',
        unit: 's',
        targets: [[gauge('tintype_checks_unreviewed_seconds', 'namespace'), '{{namespace}}']],
      },
      {
        title: 'Organizations over quota',
        description:
          'Organizations whose pictures are not delivered for lack of credits; paid is every plan but trial.',
        unit: 'short',
        targets: [[gauge('tintype_organizations_over_quota', 'plan'), '{{plan}}']],
      },
      {
        title: 'Events of payment providers by result',
        description:
          'Taken; refused, which the provider sends again; unsigned, which anybody may have sent.',
        unit: 'ops',
        targets: [
          [
            `sum by (provider, result) (${rate('tintype_provider_events_total')})`,
            '{{provider}} {{result}}',
          ],
        ],
      },
    ],
  },
];
