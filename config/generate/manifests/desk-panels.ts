/** The panels of work that waits for a person: a moderator, or the person who handles payments. */
import { gauge, type PanelRow, rate } from './panel.ts';

export const deskRows: readonly PanelRow[] = [
  {
    title: 'Work for people',
    panels: [
      {
        title: 'Flagged images waiting for a moderator',
        description:
          'Images that the scanner flagged and nobody has reviewed; most of them are served meanwhile.',
        unit: 'short',
        targets: [[gauge('tintype_checks_unreviewed', 'namespace'), '{{namespace}}']],
      },
      {
        title: 'Oldest flagged image waiting for a moderator',
        description: 'How long ago the oldest of these images was published.',
        unit: 's',
        targets: [[gauge('tintype_checks_unreviewed_seconds', 'namespace'), '{{namespace}}']],
      },
      {
        title: 'Organizations over quota',
        description:
          'Organizations whose images are not delivered for lack of credits; paid means every plan except trial.',
        unit: 'short',
        targets: [[gauge('tintype_organizations_over_quota', 'plan'), '{{plan}}']],
      },
      {
        title: 'Events of payment providers by result',
        description:
          'Events by result: taken; refused, which the provider sends again; unsigned, which anyone may have sent.',
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
