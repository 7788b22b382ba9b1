// Spec: Events. Kinds with their data fields, the delivery format and its headers, in both directions.
import { describe, expect, it } from 'vitest';
import {
  additionalEventKinds,
  type EventKind,
  eventKinds,
  printDeliveryId,
  printWebhookBody,
  webhookHeaders,
} from '../../runtime/core/events.ts';
import additions from './additions.json' with { type: 'json' };
import { differences, NONE, type Table, tableOf } from './differences.ts';
import specification from './events.json' with { type: 'json' };

const data = {
  upload_id: 'upl_1',
  project_id: 'prj_1',
  file_id: 'file_1',
  file_slug: 'cat.jpg',
  sha256: '0'.repeat(64),
  revision: 2,
};
const created_at = new Date('2026-11-20T10:00:00.000Z');

function coded(kinds: Readonly<Record<string, EventKind>>, sentWhen: boolean): Table {
  return tableOf(
    Object.entries(kinds),
    ([event]) => event,
    ([, kind]) => [Object.keys(kind.data.shape), ...(sentWhen ? [kind.sent_when] : [])],
  );
}

describe('the events', () => {
  it('have every kind of the specification with its data fields, and no other', () => {
    const expected = tableOf(
      specification.kinds.rows,
      (row) => row.event,
      (row) => [row.data, row.sent_when],
    );
    expect(differences(expected, coded(eventKinds, true))).toEqual(NONE);
    expect(Object.keys(eventKinds)).toEqual(Object.keys(expected));
  });

  it('include additional kinds only if the additions give a reason', () => {
    const expected = tableOf(
      additions.events,
      (row) => row.event,
      (row) => [row.data],
    );
    expect(differences(expected, coded(additionalEventKinds, false))).toEqual(NONE);
  });

  it('accept only null in the fields that the specification sends as null', () => {
    for (const [event, fields] of Object.entries(specification.null_fields)) {
      const kinds: Readonly<Record<string, EventKind>> = eventKinds;
      for (const field of fields) {
        const schema = kinds[event]?.data.shape[field];
        expect(schema?.safeParse(null).success).toBe(true);
        expect(schema?.safeParse(created_at.toISOString()).success).toBe(false);
      }
    }
  });

  it('are sent with the headers of the specification', () => {
    const headers = webhookHeaders({ event: '<e>', id: '<d>', signature: '<s>' });
    const rows = specification.headers.rows;
    expect(Object.keys(headers)).toEqual(rows.map((row) => row.header));
    const fixed = rows.filter((row) => ['Content-Type', 'User-Agent'].includes(row.header));
    expect(headers).toMatchObject(
      tableOf(
        fixed,
        (row) => row.header,
        (row) => row.value,
      ),
    );
    expect(headers).toMatchObject({
      'X-Service-Event': '<e>',
      'X-Service-Delivery': '<d>',
      'X-Service-Signature': '<s>',
    });
  });

  it('have a body with the fields of the specification, in its order', () => {
    const body = printWebhookBody({ id: 'x', event: 'upload.ready', created_at, data });
    expect(Object.keys(JSON.parse(body))).toEqual(specification.delivery_format.body);
    expect(JSON.parse(body)).toEqual({
      id: 'x',
      event: 'upload.ready',
      created_at: '2026-11-20T10:00:00.000Z',
      data,
    });
  });

  it('have an id of the shape <event>:<upload or file id>', () => {
    expect(printDeliveryId('upload.ready', data)).toBe('upload.ready:upl_1');
    expect(printDeliveryId('file.unblocked', data)).toBe('file.unblocked:file_1');
  });
});
